package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// dialLimit is how long it may take to connect.
const dialLimit = 5 * time.Second

// quiet is how long nothing need arrive on a connection. Then the other end is asked whether it is there, also while a call waits, and has as long to answer.
const quiet = 9 * time.Second

// HTTP returns an HTTP client that keeps so many idle connections. trust is for its connections with TLS; nil means the CAs of the system.
func HTTP(connections int, trust *tls.Config) *http.Client {
	dialer := net.Dialer{Timeout: dialLimit, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: quiet, Interval: quiet / 3, Count: 3}}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true,
		TLSClientConfig: trust, ForceAttemptHTTP2: true, HTTP2: &http.HTTP2Config{SendPingTimeout: quiet, PingTimeout: quiet},
	}}
}

// do is c.Do(req), which copies the headers of every request in case it is redirected. Here that is only done for an answer that redirects, and for an
// error, which then has the text of c.Do: it gets what the transport has answered.
func do(c *http.Client, req *http.Request) (*http.Response, error) {
	if c.Transport == nil || c.Timeout != 0 || c.Jar != nil {
		return c.Do(req)
	}
	res, err := c.Transport.RoundTrip(req)
	if err == nil && res != nil && res.Body != nil && res.StatusCode/100 != 3 {
		return res, nil
	}
	again := *c
	again.Transport = &answered{c.Transport, res, err, false}
	return again.Do(req)
}

// answered is a transport whose first request has been made.
type answered struct {
	http.RoundTripper
	res  *http.Response
	err  error
	done bool
}

// RoundTrip implements [http.RoundTripper].
func (a *answered) RoundTrip(req *http.Request) (*http.Response, error) {
	if a.done {
		return a.RoundTripper.RoundTrip(req)
	}
	a.done = true
	return a.res, a.err
}

// Copy makes a call once and writes its answer to w. An error after the first byte means that the answer is cut short.
func (c *Conn) Copy(ctx context.Context, r Call, w io.Writer) error {
	res, err := c.Send(ctx, r)
	if err != nil {
		return err
	}
	defer res.Body.Close() // nothing was written
	if _, err := io.Copy(w, res.Body); err != nil {
		return fmt.Errorf("client: the answer was cut short: %w", err)
	}
	return nil
}
