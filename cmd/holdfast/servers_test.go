package main

import (
	"net/url"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestServerURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"redis://h:1/2":                                         "redis://h:1/2",
		"rediss://user:secret@h:1":                              "rediss://h:1",
		"unix:///run/redis.sock?db=1":                           "unix:///run/redis.sock",
		"redis+sentinel://:secret@s1:1?master_name=m&addr=s2:2": "redis+sentinel://s1:1",
		"rediss+cluster://u:secret@c1:1?addr=c2:2":              "rediss+cluster://c1:1",
	} {
		s, err := parseServer(text)
		require.NoError(t, err, text)
		require.Equal(t, want, s.name)
		require.NoError(t, s.client.Close())
	}
	s, err := parseServer("redis+cluster://c1:1?addr=c2:2")
	require.NoError(t, err)
	defer s.client.Close()
	require.Equal(t, []string{"c1:1", "c2:2"}, s.client.(*redis.ClusterClient).Options().Addrs)
}

// Whatever is wrong with a URL, its password is not printed.
func TestPasswordsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	require.NoError(t, server.Client(t).ConfigSet(t.Context(), "requirepass", "rightword").Err())
	for _, list := range []string{
		"redis://:s3cret@127.0.0.1:1",
		"redis://user:s3cret@" + server.Addr(),
		"redis://:s3cret@127.0.0.1:1/database",
		"redis://:s3cret@127.0.0.1:1?no_such_parameter=s3cret",
		"redis://:s3cret@127.0.0.1:port",
		"redis://:s3c#s3cret@127.0.0.1:1",
		"redis://:s3c/s3cret@127.0.0.1:1",
		"redis://s3cret/s3cret@127.0.0.1:1",
		"redis://s3cret?s3cret@127.0.0.1:1",
		"redis://:s3c%zzs3cret@127.0.0.1:1",
		"redis://:s3c,s3cret@127.0.0.1:1",
		"redis://:s3c\"s3cret@127.0.0.1:1",
		"mysql://:s3cret@127.0.0.1:1",
		":s3cret@127.0.0.1:1",
		"s3cret",
		"redis+sentinel://:s3cret@127.0.0.1:1",
		"redis+sentinel://127.0.0.1:1?master_name=m&password=s3cret&no_such=1",
		"redis+cluster://:s3cret@127.0.0.1:1?addr=s3cret",
	} {
		t.Run(url.PathEscape(list), func(t *testing.T) {
			t.Parallel()
			code, out, errs := run(t, list, "run", "-v", "x", "--", "true")
			require.NotZero(t, code)
			require.NotContains(t, out+errs, "s3c")
			code, out, errs = run(t, "", "--redis", list, "doctor", "--json")
			require.NotZero(t, code)
			require.NotContains(t, out+errs, "s3c")
		})
	}
	code, _, errs := run(t, "redis://:rightword@"+server.Addr(), "run", "x", "--", "true")
	require.Zero(t, code, errs)
	_, out, _ := run(t, "redis://:rightword@"+server.Addr(), "run", "--help")
	require.NotContains(t, out, "rightword")
}

func TestSentinelMaster(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinel(t)
	url := "redis+sentinel://" + s.Sentinel.Addr() + "?master_name=" + redistest.MasterName
	code, _, errs := run(t, url, "run", "x", "--", "true")
	require.Zero(t, code, errs)
	code, out, _ := run(t, url, "doctor")
	require.Zero(t, code, out)
	require.Contains(t, out, "master")
	require.NotEmpty(t, s.Master.Keys(t), "the token")
}

func TestCluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	url := "redis+cluster://" + c.Servers[0].Addr() + "?addr=" + c.Servers[1].Addr()
	for _, name := range []string{"a", "b", "c"} {
		code, _, errs := run(t, url, "run", name, "--", "true")
		require.Zero(t, code, errs)
	}
	code, out, _ := run(t, url, "doctor")
	require.Zero(t, code, out)
	for _, s := range c.Servers {
		require.Contains(t, out, s.Addr())
	}
}
