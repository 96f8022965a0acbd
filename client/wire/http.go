package wire

import (
	"net/http"
	"time"
)

// HTTP returns an HTTP client that keeps so many idle connections.
func HTTP(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConns: connections, MaxIdleConnsPerHost: connections,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true,
	}}
}
