package lock

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A clerk is a log handler that takes as long as a test wants for the first record.
type clerk struct {
	slog.Handler
	busy <-chan struct{}
}

func (c clerk) Handle(ctx context.Context, r slog.Record) error {
	<-c.busy
	return c.Handler.Handle(ctx, r)
}

// What is kept for a log handler that is too slow has a bound, and the log tells once how much is missing.
func TestWhatASlowLogHandlerMissesIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const missed = 7
		var text bytes.Buffer
		busy := make(chan struct{})
		j := newJournal(slog.New(clerk{slog.NewTextHandler(&text, nil), busy}))
		j.Info("first")
		synctest.Wait() // it is being written
		for range maxRecords + missed {
			j.Info("later")
		}
		close(busy)
		synctest.Wait()
		j.Info("last")
		synctest.Wait()
		require.Equal(t, maxRecords, strings.Count(text.String(), "msg=later"))
		require.Equal(t, 1, strings.Count(text.String(), "too slow"))
		require.Contains(t, text.String(), "level=WARN")
		require.Contains(t, text.String(), "records=7")
	})
}
