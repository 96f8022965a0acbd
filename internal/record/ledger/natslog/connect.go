package natslog

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// errURL does not say more: what cannot be read may contain a password in any place.
var errURL = errors.New("natslog: this is not the URL of a NATS server: use nats://USER:PASSWORD@HOST:4222 or tls://HOST:4222, " +
	"several separated by commas, with special characters in a password written as %XX")

// Connect connects to one of the servers at URLs separated by commas, and again whenever the connection is lost. A connection that leaves
// the machine must be encrypted. Errors have no secret of the URLs. The caller closes the connection.
func Connect(urls string, more ...nats.Option) (*nats.Conn, error) {
	if urls == "" {
		return nil, errURL
	}
	for text := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
			return nil, errURL
		}
		if u.Scheme != "tls" && !IsLocal(u.Hostname()) {
			return nil, fmt.Errorf("natslog: the connection to %s could be made unencrypted, and it leaves this machine: write tls://%[1]s", u.Host)
		}
	}
	c, err := nats.Connect(urls, append(ConnectOptions(), more...)...)
	if err != nil && strings.Contains(err.Error(), "://") {
		return nil, errURL
	}
	return c, err
}

// ConnectOptions are the options of a connection that a log needs.
func ConnectOptions() []nats.Option {
	return []nats.Option{
		nats.Name("trapeze"),
		nats.NoEcho(),             // what a front end tells the others is large
		nats.ReconnectBufSize(-1), // an append that fails must not be sent later
		nats.MaxReconnects(-1),
		nats.ReconnectWait(retryAfter),
		nats.Timeout(requestTimeout),
		nats.PingInterval(2 * time.Second), // a server that is paused, or whose network is gone, is noticed
		nats.MaxPingsOutstanding(2),
		nats.FlusherTimeout(writeTimeout), // meanwhile no ping is sent, and no other call sends anything
		nats.ReconnectOnFlusherError(),
	}
}

// IsLocal reports whether a host is this machine.
func IsLocal(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
