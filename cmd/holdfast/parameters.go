package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
)

// mostConnections is far more than holdfast uses.
const mostConnections = 10_000

// Parameters of go-redis that have a client ask others than the master. A lock is where the master is.
var elsewhere = []string{
	"route_by_latency", "route_by_latency_tolerance", "route_randomly", "replica_only", "use_disconnected_replicas", "read_only",
}

// Parameters that are numbers of connections. With some numbers go-redis panics.
var connections = []string{
	"pool_size", "min_idle_conns", "max_idle_conns", "max_active_conns", "max_concurrent_dials", "pipeline_pool_size",
}

// Parameters that are about TLS; the last of them is go-redis' own.
var aboutTLS = []string{"cacert", "cert", "key", "sni", "skip_verify"}

// checkParameters refuses what go-redis takes, or stumbles over, and what locks must not have.
func checkParameters(q url.Values, withTLS bool) error {
	for name, values := range q {
		switch {
		case len(values) > 1 && name != "addr":
			return fmt.Errorf("%s is given %d times; each node has a URL of its own", name, len(values))
		case slices.Contains(elsewhere, name):
			return fmt.Errorf("%s is for reading from replicas, and locks need the master", name)
		case slices.Contains(connections, name) && !isCount(name, values[0]):
			return fmt.Errorf("%s must be a number of connections, at most %d", name, mostConnections)
		case slices.Contains(aboutTLS, name) && !withTLS:
			return fmt.Errorf("%s is for TLS: use it with rediss://", name)
		}
	}
	return nil
}

func isCount(name, value string) bool {
	n, err := strconv.Atoi(value)
	return value == "" || err == nil && n <= mostConnections && (n >= 0 || n == -1 && name == "pipeline_pool_size")
}

// A tlsSetting is what a URL asks of TLS, in words of redis-cli's options.
type tlsSetting struct {
	ca         *x509.CertPool // nil: the system's
	own        []tls.Certificate
	sni        string // "": each server's own host
	skipVerify bool
}

// takeTLS takes its parameters out of q.
func takeTLS(q url.Values) (t tlsSetting, err error) {
	if file := q.Get("cacert"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return t, fmt.Errorf("cacert: %w", err)
		}
		t.ca = x509.NewCertPool()
		if !t.ca.AppendCertsFromPEM(text) {
			return t, fmt.Errorf("cacert: %s has no certificate in PEM", file)
		}
	}
	cert, key := q.Get("cert"), q.Get("key")
	switch {
	case (cert == "") != (key == ""):
		return t, errors.New("give both cert and key, or neither")
	case cert != "":
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return t, fmt.Errorf("cert and key: %w", err)
		}
		t.own = []tls.Certificate{pair}
	}
	t.sni = q.Get("sni")
	switch text := q.Get("skip_verify"); text {
	case "true", "1":
		t.skipVerify = true
	case "false", "0", "":
	default:
		return t, errors.New("skip_verify must be true or false")
	}
	for _, name := range aboutTLS {
		q.Del(name)
	}
	return t, nil
}

// apply adds the setting to a configuration, if there is one: without TLS there are no parameters for it.
func (t *tlsSetting) apply(c *tls.Config) {
	if c == nil {
		return
	}
	c.MinVersion = tls.VersionTLS12
	c.RootCAs, c.Certificates, c.InsecureSkipVerify = t.ca, t.own, t.skipVerify
	if t.sni != "" {
		c.ServerName = t.sni
	}
}
