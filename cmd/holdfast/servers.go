package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
)

const (
	serversEnv     = "HOLDFAST_REDIS"
	defaultServers = "redis://localhost:6379"
)

// A server is one node: how to reach it, and what to call it.
type server struct {
	name   string // without user, password and parameters
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

var errNoURL = errors.New("it is not a URL such as redis://host:6379; special characters in a password must be percent-encoded")

// parseServer makes the client for one URL. No part of the URL that could be, or contain, a password is in
// the name or the error: where special characters of a password are not encoded, any part may be.
func parseServer(text string) (server, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Fragment != "" || strings.Contains(u.Path+u.RawQuery, "@") {
		return server{}, errNoURL // err quotes the URL
	}
	scheme, form, _ := strings.Cut(u.Scheme, "+")
	s := server{name: (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()}
	fail := func(err error) (server, error) { return server{}, fmt.Errorf("%s: %w", s.name, withoutSecrets(u, err)) }
	u.Scheme = scheme
	switch {
	case form == "" && (scheme == "redis" || scheme == "rediss" || scheme == "unix"):
		if q := u.Query(); q.Has("master_name") || q.Has("addr") {
			return fail(errors.New("master_name and addr are for redis+sentinel:// and redis+cluster://"))
		}
		o, err := redis.ParseURL(u.String())
		if err != nil {
			return fail(err)
		}
		s.client = redis.NewClient(o)
	case form == "sentinel" && (scheme == "redis" || scheme == "rediss"):
		o, err := redis.ParseFailoverURL(u.String())
		if err == nil && o.MasterName == "" {
			err = errors.New("the master's name is missing: add ?master_name=…")
		}
		if err != nil {
			return fail(err)
		}
		s.client = redis.NewFailoverClient(o)
	case form == "cluster" && (scheme == "redis" || scheme == "rediss"):
		o, err := redis.ParseClusterURL(u.String())
		if err != nil {
			return fail(err)
		}
		s.client = redis.NewClusterClient(o)
	default:
		return server{}, errors.New("it begins with none of redis://, rediss://, unix://, redis+sentinel:// and redis+cluster://")
	}
	return s, nil
}

// withoutSecrets is err, unless that contains the value of a parameter or a password of u.
func withoutSecrets(u *url.URL, err error) error {
	password, _ := u.User.Password()
	for _, secret := range append([]string{password}, u.Query()["password"]...) {
		if secret != "" && strings.Contains(err.Error(), secret) {
			return errors.New("a parameter of the URL is wrong")
		}
	}
	return err
}
