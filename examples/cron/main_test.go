package main

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/examples/internal/exampletest"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

func TestOneOfManySchedulersRunsTheJob(t *testing.T) {
	exampletest.Run(t, 1, schedule, func(t *testing.T, told exampletest.Told) {
		for slot := 1; slot <= times; slot++ {
			require.Equal(t, 1, told.Count(fmt.Sprintf("runs backup %d\n", slot)))
		}
		told.InOrder(t, "runs backup 1", "runs backup 2", "runs backup 3", "3 runs.")
		// However busy the machine is, nobody has the lock for a second time before its minimum
		// hold is over: by then, a scheduler is late even if its clock is the one most behind.
		for _, late := range regexp.MustCompile(`is (\S+) late and finds`).FindAllStringSubmatch(string(told), -1) {
			by, err := time.ParseDuration(late[1])
			require.NoError(t, err)
			require.Greater(t, by, (hold-apart)*3/4, "a tick that was run is not run again")
		}
	})
}
