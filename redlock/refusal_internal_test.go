package redlock

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type oom struct{}

func (oom) Error() string { return "OOM command not allowed when used memory > 'maxmemory'." }
func (oom) RedisError()   {}

// A server at its limit refuses now and then, which is not logged each time. One that goes on refusing is, sooner or
// later.
func TestARefusalThatLastsIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(bytes.Buffer)
		n := &node{address: "node", group: &Group{config: Config{Logger: slog.New(slog.NewTextHandler(log, nil))}}}
		require := func(refuses, accepts int) {
			t.Helper()
			require.Equal(t, refuses, strings.Count(log.String(), "a node refuses commands"), log)
			require.Equal(t, accepts, strings.Count(log.String(), "a node accepts commands again"), log)
		}
		n.noteRefusal(nil)
		n.noteRefusal(oom{})
		n.noteRefusal(oom{})
		require(1, 0)
		time.Sleep(time.Second)
		n.noteRefusal(nil)
		require(1, 1)
		n.noteRefusal(oom{})
		require(1, 1)
		n.noteRefusal(nil)
		require(1, 1)
		n.noteRefusal(oom{})
		time.Sleep(refusalPause)
		n.noteRefusal(oom{})
		n.noteRefusal(oom{})
		require(2, 1)
		n.noteRefusal(nil)
		require(2, 2)
	})
}
