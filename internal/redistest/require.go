package redistest

import (
	"os"
	"os/exec"
	"testing"
)

// RequireEnv names the environment variable that, when not empty, turns a
// missing redis-server from a skipped test into a failed one. Set it in CI, where
// a silently skipped suite would look like a passed one.
const RequireEnv = "HOLDFAST_REQUIRE_REDIS"

const binary = "redis-server"

// Require skips the test when redis-server is not on PATH, and fails it instead
// when [RequireEnv] is set. Every Start function calls it.
func Require(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath(binary); err == nil {
		return
	}
	if os.Getenv(RequireEnv) != "" {
		t.Fatalf("redistest: %s is not on PATH, and %s demands it", binary, RequireEnv)
	}
	t.Skipf("redistest: %s is not on PATH: left out %s, which needs a real server (set %s=1 to fail instead)",
		binary, t.Name(), RequireEnv)
}
