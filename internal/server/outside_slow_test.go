//go:build slow

package server

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

// What a server tells others of its address: to other machines, neither "all addresses" nor the loopback leads to it.
func TestAServerTellsOthersAnAddressThatLeadsToIt(t *testing.T) {
	t.Parallel()
	ca := certtest.NewCA(t)
	for _, test := range []struct {
		name    string
		addr    string
		cert    []string // names; none: no TLS
		hosts   []string
		outside string // without the port
		unnamed string // if the machine has no name
		here    string
	}{
		{"a proxy on another machine", "0.0.0.0:0", nil, []string{"trapeze.example.org"}, "http://a.example.org", "http://127.0.0.1", "http://127.0.0.1"},
		{"a proxy on this machine", "127.0.0.1:0", nil, nil, "http://127.0.0.1", "http://127.0.0.1", "http://127.0.0.1"},
		{"the name of the machine", "0.0.0.0:0", []string{"localhost", "trapeze.example.org", "a.example.org"}, nil, "https://a.example.org", "https://trapeze.example.org", "https://localhost"},
		{"the name that callers use", "0.0.0.0:0", []string{"localhost", "x.example.org", "trapeze.example.org"}, []string{"trapeze.example.org"}, "https://trapeze.example.org", "https://trapeze.example.org", "https://localhost"},
		{"a name of the certificate", "[::]:0", []string{"localhost", "127.0.0.1", "b.example.org"}, nil, "https://b.example.org", "https://b.example.org", "https://localhost"},
		{"no name of the certificate that leads to it", "0.0.0.0:0", []string{"localhost"}, nil, "https://a.example.org", "https://localhost", "https://localhost"},
	} {
		if strings.HasPrefix(test.addr, "[") && !hasIPv6() {
			continue
		}
		c := Config{Temporary: true, Addr: test.addr, Hosts: test.hosts, BehindProxy: test.cert == nil}
		if test.cert != nil {
			c.TLS = pairFiles(ca.Issue(test.cert...), "")
		}
		s, err := Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if got := s.outside("a.example.org"); got != test.outside+":"+port {
			t.Errorf("%s: others are told %s, not %s", test.name, got, test.outside)
		}
		if got := s.outside(""); got != test.unnamed+":"+port {
			t.Errorf("%s: others are told %s, not %s, of a machine without a name", test.name, got, test.unnamed)
		}
		machine, _ := os.Hostname()
		if told := s.cluster.Known(t.Context()).Members[0].URL; told != s.outside(machine) {
			t.Errorf("%s: the list of servers has %s, not %s", test.name, told, s.outside(machine))
		}
		if got := s.URL(); got != test.here+":"+port {
			t.Errorf("%s: this machine uses %s, not %s", test.name, got, test.here)
		}
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// hasIPv6 reports whether this machine has a loopback of IPv6.
func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	return err == nil && l.Close() == nil
}
