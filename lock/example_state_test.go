package lock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/lock"
)

// What Inspect returns is made to be printed. Here one of three nodes is down, and only one
// of the others has the hold: it may have a quorum, or not.
func ExampleState() {
	state := lock.State{
		Status: lock.StatusUnknown,
		Token:  7,
		Nodes: []lock.NodeState{
			{Address: "10.0.0.1:6379", Reachable: true, Holder: "a49a:1", Count: 1, TTL: 29500 * time.Millisecond, Token: 7},
			{Address: "10.0.0.2:6379", Reachable: true, Token: 7},
			{Address: "10.0.0.3:6379", Err: errors.New("no answer within the node timeout")},
		},
	}
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(state.Status)
	fmt.Println(string(text))
	// Output:
	// unknown
	// {
	//   "status": "unknown",
	//   "held": false,
	//   "token": 7,
	//   "nodes": [
	//     {
	//       "address": "10.0.0.1:6379",
	//       "reachable": true,
	//       "holder": "a49a:1",
	//       "count": 1,
	//       "ttl": "29.5s",
	//       "token": 7
	//     },
	//     {
	//       "address": "10.0.0.2:6379",
	//       "reachable": true,
	//       "token": 7
	//     },
	//     {
	//       "address": "10.0.0.3:6379",
	//       "reachable": false,
	//       "err": "no answer within the node timeout"
	//     }
	//   ]
	// }
}
