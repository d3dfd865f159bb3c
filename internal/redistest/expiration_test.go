package redistest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestExpirationsAreToldOnce(t *testing.T) {
	t.Parallel()
	s := Start(t)
	expired := s.Expirations(t)
	c := s.Client(t)
	require.Empty(t, expired())
	require.NoError(t, c.Set(bg, "kept", "", time.Hour).Err())
	require.NoError(t, c.Set(bg, "removed", "", time.Second).Err())
	require.NoError(t, c.Del(bg, "removed").Err())
	require.NoError(t, c.Set(bg, "brief", "", time.Millisecond).Err())
	Eventually(t, time.Minute, func() bool { return c.Exists(bg, "brief").Val() == 0 }, "brief expires")
	require.Equal(t, []string{"brief"}, expired())
	require.Empty(t, expired())
}
