package redistest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redisbin"
)

// RequireEnv names the environment variable that, when not empty, turns a
// missing Redis server from a skipped test into a failed one. Set it in CI, where
// a silently skipped suite would look like a passed one.
const RequireEnv = "HOLDFAST_REQUIRE_REDIS"

// Require skips the test when the server that [redisbin.Env] names cannot be found, and
// fails it instead when [RequireEnv] is set. Every Start function calls it.
func Require(t testing.TB) {
	t.Helper()
	_, err := exec.LookPath(redisbin.Name())
	if err == nil {
		return
	}
	if os.Getenv(RequireEnv) != "" {
		t.Fatalf("redistest: %v, and %s demands a server", err, RequireEnv)
	}
	t.Skipf("redistest: %v: left out %s, which needs a real server (set %s=1 to fail instead)",
		err, t.Name(), RequireEnv)
}
