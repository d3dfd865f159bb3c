package redistest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	// The test binary doubles as the victim of the test that kills one.
	if os.Getenv(victimEnv) != "" {
		beVictim()
		return
	}
	Main(m)
}
