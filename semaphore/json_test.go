package semaphore_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/semaphore"
)

func TestAStateIsReadableAsJSON(t *testing.T) {
	t.Parallel()
	slots := []semaphore.Slot{{Number: 3, Holder: "web:1p1/4", Label: "web-3", TTL: 29 * time.Second, Token: 7}}
	text, err := json.Marshal(semaphore.State{
		Permits: 4, InUse: 1, Slots: slots, Token: 7,
		Queue: []semaphore.Wait{{Hold: "web:2p4/4", Permits: 4, Waited: 1500 * time.Millisecond}},
		Nodes: []semaphore.NodeState{
			{Address: "a:6379", Reachable: true, Slots: slots, Token: 7},
			{Address: "b:6379", Err: errors.New("no answer within the node timeout")},
		},
	})
	require.NoError(t, err)
	const slot = `{"number": 3, "holder": "web:1p1/4", "label": "web-3", "ttl": "29s", "token": 7}`
	require.JSONEq(t, `{
		"permits": 4, "inUse": 1, "token": 7, "slots": [`+slot+`],
		"queue": [{"hold": "web:2p4/4", "permits": 4, "waited": "1.5s"}],
		"nodes": [
			{"address": "a:6379", "reachable": true, "slots": [`+slot+`], "token": 7},
			{"address": "b:6379", "reachable": false, "err": "no answer within the node timeout"}
		]
	}`, string(text))
}
