package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// An authority signs certificates, all of which are in files.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.write("ca", &x509.Certificate{
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "test"},
	})
	return a
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// issue has a certificate for these hosts in name.crt, and its key in name.key.
func (a *authority) issue(name string, hosts ...string) {
	a.t.Helper()
	c := &x509.Certificate{Subject: pkix.Name{CommonName: name}}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, host)
		}
	}
	a.write(name, c)
}

func (a *authority) write(name string, c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	signed, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	require.NoError(a.t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	for ext, block := range map[string]*pem.Block{
		".crt": {Type: "CERTIFICATE", Bytes: signed}, ".key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		require.NoError(a.t, os.WriteFile(a.file(name+ext), pem.EncodeToMemory(block), 0o600))
	}
	c, err = x509.ParseCertificate(signed)
	require.NoError(a.t, err)
	return c, key
}

// server are the arguments of a server with the certificate of that name, which asks its clients for theirs.
func (a *authority) server(name string) []string {
	return []string{
		"--tls-ca-cert-file", a.file("ca.crt"), "--tls-cert-file", a.file(name + ".crt"), "--tls-key-file", a.file(name + ".key"),
	}
}

// client are the parameters of a URL with the certificate of that name.
func (a *authority) client(name string) string {
	return url.Values{"cacert": {a.file("ca.crt")}, "cert": {a.file(name + ".crt")}, "key": {a.file(name + ".key")}}.Encode()
}

// spare is a port that was free a moment ago: one of a server that has ended.
func spare(t *testing.T) int {
	t.Helper()
	s := redistest.Start(t)
	s.Kill()
	return s.Port()
}

// host is where servers of tests are.
func hostOf(t *testing.T, s *redistest.Server) string {
	t.Helper()
	host, _, err := net.SplitHostPort(s.Addr())
	require.NoError(t, err)
	return host
}

// requireLocks requires that locks can be taken there, and that doctor has nothing to say against it.
func requireLocks(t *testing.T, url string) {
	t.Helper()
	code, _, errs := run(t, url, "run", "x", "--", "true")
	require.Zero(t, code, errs)
	code, out, errs := run(t, url, "doctor")
	require.Zero(t, code, out+errs)
}

func requireNoQuorum(t *testing.T, url, why string) {
	t.Helper()
	code, _, errs := run(t, url, "run", "x", "--", "true")
	require.Equal(t, exitNoQuorum, code, errs)
	require.Contains(t, errs, why)
}

func TestServerWithTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.issue("client")
	a.issue("server", "redis.internal")
	port := spare(t)
	s := redistest.Start(t, append(a.server("server"), "--tls-port", fmt.Sprint(port))...)
	at := fmt.Sprintf("rediss://%s:%d/3?", hostOf(t, s), port)
	requireLocks(t, at+a.client("client")+"&sni=redis.internal")
	requireLocks(t, at+a.client("client")+"&skip_verify=true")
	require.Equal(t, "0", s.Info(t, "clients", "blocked_clients"))
	n, err := s.Client(t, func(o *redis.Options) { o.DB = 3 }).DBSize(t.Context()).Result()
	require.NoError(t, err)
	require.Positive(t, n, "the token is in database 3")

	requireNoQuorum(t, at+a.client("client"), "certificate")         // it is not this host's
	requireNoQuorum(t, at+"sni=redis.internal", "unknown authority") // nobody has said whom to trust
	requireNoQuorum(t, at+"sni=redis.internal&cacert="+url.QueryEscape(a.file("ca.crt")), "certificate required")
}

// Each of the servers has a certificate of its own, and the first Sentinel's name is not that of the master.
func TestSentinelMasterWithTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.issue("client")
	a.issue("sentinel", "localhost")
	probe := redistest.Start(t)
	a.issue("master", hostOf(t, probe))
	at, behind := spare(t), spare(t)
	master := redistest.Start(t, append(a.server("master"), "--tls-port", fmt.Sprint(behind))...)
	redistest.StartSentinelWith(t, fmt.Sprintf("sentinel monitor main %s %d 1\n", hostOf(t, master), behind),
		append(a.server("sentinel"), "--tls-port", fmt.Sprint(at), "--tls-replication", "yes", "--bind", hostOf(t, master)+" 127.0.0.1")...)
	requireLocks(t, fmt.Sprintf("rediss+sentinel://localhost:%d?master_name=main&%s", at, a.client("client")))
	require.NotEmpty(t, master.Keys(t), "the token")
}

// The same of a Cluster, whose first seed is down.
func TestClusterWithTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.issue("client")
	probe := redistest.Start(t)
	a.issue("server", hostOf(t, probe))
	port := spare(t)
	s := redistest.Start(t, append(a.server("server"), "--tls-port", fmt.Sprint(port), "--tls-cluster", "yes", "--cluster-enabled", "yes")...)
	require.NoError(t, s.Client(t).ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	redistest.Eventually(t, longest, func() bool { return s.Client(t).Set(t.Context(), "x", 1, time.Second).Err() == nil }, "it does not serve")
	requireLocks(t, fmt.Sprintf("rediss+cluster://localhost:1?addr=%s:%d&%s", hostOf(t, s), port, a.client("client")))
	requireLocks(t, fmt.Sprintf("rediss+cluster://localhost:1?addr=%s:%d&%s&skip_verify=1&sni=other", hostOf(t, s), port, a.client("client")))
}
