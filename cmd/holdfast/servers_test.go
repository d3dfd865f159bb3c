package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
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
		"redis+sentinel://:secret@s1:1?master_name=m&addr=s2:2": "redis+sentinel://s1:1?master_name=m",
		"rediss+cluster://u:secret@c1:1?addr=c2:2":              "rediss+cluster://c1:1",
	} {
		s, err := parseServer(text)
		require.NoError(t, err, text)
		require.Equal(t, want, s.name)
		require.NoError(t, s.client.Close())
	}
	for text, want := range map[string]string{
		"redis:host:6379":                                       "not a URL such as",
		"redis://h/-1":                                          "no database -1",
		"redis://h/a/b":                                         "invalid URL path",
		"redis://h?master_name=m":                               "for redis+sentinel://",
		"redis://h?sni=x":                                       "is for TLS",
		"redis://h?pool_size=-1":                                "must be a number of connections",
		"redis://h?min_idle_conns=99999999999":                  "must be a number of connections",
		"redis://h?protocol=two":                                "invalid protocol",
		"rediss://h?cert=x":                                     "both cert and key",
		"rediss://h?cacert=/no-such-file":                       "no such file",
		"rediss://h?cacert=servers_test.go":                     "no certificate",
		"rediss://h?cert=servers.go&key=servers.go":             "cert and key: ",
		"rediss://h?skip_verify=perhaps":                        "must be true or false",
		"unix://run/redis.sock":                                 "third slash",
		"unix://":                                               "empty unix socket path",
		"redis+sentinel://s1":                                   "master's name is missing",
		"redis+sentinel://s1?master_name=m&master_name=n":       "each node has a URL of its own",
		"redis+sentinel://s1?master_name=m&route_randomly=true": "locks need the master",
		"redis+sentinel://s1?master_name=m&replica_only=true":   "locks need the master",
		"redis+sentinel://s1?master_name=m&addr=s2":             "unable to parse addr",
		"redis+sentinel://s1/-1?master_name=m":                  "no database -1",
		"redis+cluster://c1/3":                                  "no databases",
		"redis+cluster://c1?read_only=true":                     "locks need the master",
	} {
		_, err := parseServer(text)
		require.ErrorContains(t, err, want, text)
	}
	s, err := parseServer("redis+cluster://c1:1?addr=c2:2")
	require.NoError(t, err)
	defer s.client.Close()
	require.Equal(t, []string{"c1:1", "c2:2"}, s.client.(*redis.ClusterClient).Options().Addrs)
}

// Where nothing is said of the port, a Sentinel is where Sentinels are.
func TestSentinelHasAPortOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"127.0.0.1", "[::1]", ""} {
		u, err := url.Parse("redis://" + at + "?master_name=m")
		require.NoError(t, err)
		c, err := parseSentinel(u, u.Query())
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.Equal(t, "26379", u.Port())
		require.NotEmpty(t, u.Hostname())
	}
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
		"redis+sentinel://127.0.0.1:1?master_name=m&password=a&s3cret",
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

// Three masters that one Sentinel knows are three nodes. They and the Sentinel have passwords of their own.
func TestMastersOfOneSentinel(t *testing.T) {
	t.Parallel()
	masters := redistest.StartN(t, 3)
	config := ""
	for i, m := range masters {
		config += fmt.Sprintf("sentinel monitor m%d %s %d 1\nsentinel auth-pass m%d serverword\n", i+1, hostOf(t, m), m.Port(), i+1)
	}
	s := redistest.StartSentinelWith(t, config)
	require.NoError(t, s.Client(t).Do(t.Context(), "ACL", "SETUSER", "default", "resetpass", ">sentinelword").Err())
	var urls []string
	for i, m := range masters {
		require.NoError(t, m.Client(t).ConfigSet(t.Context(), "requirepass", "serverword").Err())
		urls = append(urls, fmt.Sprintf("redis+sentinel://:sentinelword@%s?master_name=m%d&password=serverword", s.Addr(), i+1))
	}
	list := strings.Join(urls, ",")
	hold(t, list, "x")
	code, out, errs := run(t, list, "doctor")
	require.Zero(t, code, out+errs)
	for i := range masters {
		require.Contains(t, out, fmt.Sprintf("redis+sentinel://%s?master_name=m%d ", s.Addr(), i+1))
	}
	require.NotContains(t, out, "word")

	code, _, errs = run(t, strings.ReplaceAll(list, "sentinelword", "wrong"), "run", "y", "--", "true")
	require.Equal(t, exitNoQuorum, code, errs)
	require.Contains(t, errs, "WRONGPASS")
	code, _, errs = run(t, urls[0]+","+urls[0]+","+urls[1], "run", "y", "--", "true")
	require.Equal(t, exitUsage, code, errs)
	require.Contains(t, errs, "same server")
}

// No server is missing: these URLs can never be used together.
func TestServerThatIsGivenTwiceIsAnInvalidCommandLine(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	urls := redisURL(server.Addr()) + "," + redisURL(server.Addr()) + "/1" // another database, but no other server
	for _, args := range [][]string{{"run", "x", "--", "true"}, {"elect", "x", "--", "true"}, {"list"}, {"wait", "x"}} {
		code, _, errs := run(t, urls, args...)
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, "the same server is given as two nodes")
		require.NotContains(t, errs, "tells more", "there is no more to tell")
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "redis.sock")
	s := redistest.Start(t, "--unixsocket", path, "--requirepass", "")
	requireLocks(t, "unix://"+path+"?db=2")
	n, err := s.Client(t, func(o *redis.Options) { o.DB = 2 }).DBSize(t.Context()).Result()
	require.NoError(t, err)
	require.Positive(t, n, "the token is in database 2")
	requireNoQuorum(t, "unix://"+path+"2", "no such file")
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
