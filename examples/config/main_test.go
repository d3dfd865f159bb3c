package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
	"github.com/holdfast-go/holdfast/examples/internal/fleet"
)

// TestMain also is the main function of the services: what a test runs is this program.
func TestMain(m *testing.M) {
	if !fleet.Join(serve) {
		exampletest.Main(m)
	}
}

func TestNobodySeesOneSettingChangedWithoutTheOther(t *testing.T) {
	// The race detector lets every program end a second late, unless it is told not to.
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	exampletest.Run(t, 3, administer, func(t *testing.T, told exampletest.Told) {
		for _, name := range []string{"api ", "mail", "shop"} {
			told.InOrder(t, "admin   wrote blue:5432", name+"    reads blue:5432", "admin   wrote green:6543", name+"    reads green:6543")
		}
		told.InOrder(t, "mail    is killed while it reads", "admin   wrote red:7654", "Nobody saw a host with the port of another.")
		for _, name := range []string{"api ", "shop"} {
			told.InOrder(t, "admin   wrote red:7654", name+"    reads red:7654")
		}
		require.Zero(t, told.Count("mail    reads red"))
	})
}
