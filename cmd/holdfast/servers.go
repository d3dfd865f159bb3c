package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

const (
	serversEnv     = "HOLDFAST_REDIS"
	defaultServers = "redis://localhost:6379"
	sentinelPort   = "26379"
)

// A server is one node: how to reach it, and what to call it.
type server struct {
	name   string // without user, password and parameters, but for the name of a Sentinel's master
	client redis.UniversalClient
}

// connect makes a client for each URL. It sends nothing.
func (a *app) connect() ([]server, error) {
	redis.SetLogger(silent{}) // it would log each dial to a server that is down
	list := a.servers
	from := "--redis"
	if list == "" {
		list, from = os.Getenv(serversEnv), serversEnv
	}
	if list == "" {
		list, from = defaultServers, "the default"
	}
	var servers []server
	urls := strings.Split(list, ",")
	for i, text := range urls {
		s, err := parseServer(strings.TrimSpace(text))
		if err != nil {
			disconnect(servers)
			return nil, usagef("%s: server %d of %d: %w", from, i+1, len(urls), err)
		}
		servers = append(servers, s)
	}
	return servers, nil
}

func disconnect(servers []server) {
	for _, s := range servers {
		_ = s.client.Close() // nothing is left to be told about it
	}
}

var (
	errNoURL    = errors.New("it is not a URL such as redis://host:6379; special characters in a password must be percent-encoded")
	errNoScheme = errors.New("it must begin with redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://")
)

// parseServer makes the client for one URL. No part of the URL that could be, or contain, a password is in
// the name or the error: where special characters of a password are not encoded, any part may be.
func parseServer(text string) (server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Fragment != "" || strings.Contains(u.Path+u.RawQuery, "@") {
		return server{}, errNoURL // err quotes the URL
	}
	name := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	scheme, form, _ := strings.Cut(u.Scheme, "+")
	var dial func(*url.URL, url.Values) (redis.UniversalClient, error)
	switch {
	case form == "" && (scheme == "redis" || scheme == "rediss"):
		dial = parseSingle
	case form == "" && scheme == "unix":
		dial = parseSocket
	case form == "sentinel" && (scheme == "redis" || scheme == "rediss"):
		dial = parseSentinel
		if master := u.Query().Get("master_name"); master != "" {
			name.RawQuery = url.Values{"master_name": {master}}.Encode() // one Sentinel knows several
		}
	case form == "cluster" && (scheme == "redis" || scheme == "rediss"):
		dial = parseCluster
	default:
		return server{}, errNoScheme
	}
	if u.Opaque != "" {
		return server{}, errNoURL // redis:host, whose host would not be seen
	}
	u.Scheme = scheme
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return server{}, errNoURL
	}
	s := server{name: name.String()}
	if err = checkParameters(q, scheme == "rediss"); err == nil {
		s.client, err = dial(u, q)
	}
	if err != nil {
		return server{}, fmt.Errorf("%s: %w", s.name, withoutSecrets(u, err))
	}
	return s, nil
}

// dials is how often a connection is tried to be made for a command: the next round of a lock tries again anyway. With
// go-redis' five tries a server that refuses connections takes longer than the node timeout, and seems to be silent.
const dials = 1

// with is u with these parameters.
func with(u *url.URL, q url.Values) string {
	v := *u
	v.RawQuery = q.Encode()
	return v.String()
}

func parseSingle(u *url.URL, q url.Values) (redis.UniversalClient, error) {
	if q.Has("master_name") || q.Has("addr") {
		return nil, errors.New("master_name and addr are for redis+sentinel:// and redis+cluster://")
	}
	t, err := takeTLS(q)
	if err != nil {
		return nil, err
	}
	o, err := redis.ParseURL(with(u, q))
	if err != nil {
		return nil, err
	}
	if err := checkDatabase(o.DB); err != nil {
		return nil, err
	}
	t.apply(o.TLSConfig)
	o.DialerRetries = cmp.Or(o.DialerRetries, dials)
	return redis.NewClient(o), nil
}

func parseSocket(u *url.URL, q url.Values) (redis.UniversalClient, error) {
	if u.Host != "" {
		return nil, errors.New("a socket has no host: its path begins with the third slash, as in unix:///run/redis.sock")
	}
	return parseSingle(u, q)
}

// sentinel asks the Sentinels for their master, and again when that has changed.
func parseSentinel(u *url.URL, q url.Values) (redis.UniversalClient, error) {
	if q.Get("master_name") == "" {
		return nil, errors.New("the master's name is missing: add ?master_name=…")
	}
	t, err := takeTLS(q)
	if err != nil {
		return nil, err
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(cmp.Or(u.Hostname(), "localhost"), sentinelPort) // and not that of a server
	}
	o, err := redis.ParseFailoverURL(with(u, q))
	if err != nil {
		return nil, err
	}
	if err := checkDatabase(o.DB); err != nil {
		return nil, err
	}
	if o.TLSConfig != nil {
		o.TLSConfig.ServerName = "" // that of the first Sentinel; each server has its own
	}
	t.apply(o.TLSConfig)
	o.DialerRetries = cmp.Or(o.DialerRetries, dials)
	return redis.NewFailoverClient(o), nil
}

func parseCluster(u *url.URL, q url.Values) (redis.UniversalClient, error) {
	if database := strings.Trim(u.Path, "/"); database != "" && database != "0" {
		return nil, errors.New("a Cluster has no databases: leave the path out")
	}
	t, err := takeTLS(q)
	if err != nil {
		return nil, err
	}
	o, err := redis.ParseClusterURL(with(u, q))
	if err != nil {
		return nil, err
	}
	if o.TLSConfig != nil {
		o.TLSConfig.ServerName = "" // that of the first server; each has its own
	}
	t.apply(o.TLSConfig)
	o.DialerRetries = cmp.Or(o.DialerRetries, dials)
	o.ContextTimeoutEnabled = true // doctor has no client of its own for each of its servers
	return redis.NewClusterClient(o), nil
}

func checkDatabase(n int) error {
	if n < 0 {
		return fmt.Errorf("there is no database %d", n)
	}
	return nil
}

// withoutSecrets is err, unless that contains a password of u, or may contain a part of one: after a password in a parameter,
// what go-redis takes for the name of an option may be what follows an & in the password.
func withoutSecrets(u *url.URL, err error) error {
	text := err.Error()
	password, _ := u.User.Password()
	if slices.ContainsFunc(append(u.Query()["password"], password), func(secret string) bool {
		return secret != "" && strings.Contains(text, secret)
	}) || strings.Contains(u.RawQuery, "password") && strings.Contains(text, "unexpected option") {
		return errors.New("a parameter of the URL is wrong; special characters in a password must be percent-encoded")
	}
	return err
}
