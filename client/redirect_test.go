package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// TestRedirectsAndErrorsAreThoseOfTheHTTPClient makes calls by a client whose requests go past [http.Client.Do] as long as nothing redirects them, and by one with a
// time limit, whose requests do not. The servers see the same requests, and the callers the same errors.
func TestRedirectsAndErrorsAreThoseOfTheHTTPClient(t *testing.T) {
	for _, c := range []struct {
		path string
		want string // what the servers saw, or the error
	}{
		{"/307", `POST /v1/307 token {"n":1}; other POST /v1/there token {"n":1}: 2, <nil>`},
		{"/308", `POST /v1/308 token {"n":1}; other POST /v1/there token {"n":1}: 2, <nil>`},
		{"/302", `POST /v1/302 token {"n":1}; other GET /v1/there token: 2, <nil>`},
		{"/303", `POST /v1/303 token {"n":1}; other GET /v1/there token: 2, <nil>`},
		{"/304", "304"},
		{"/300", "300"},
		{"/nowhere", "302 Found"},
		{"/loop", "stopped after 10 redirects"},
		{"/hangup", "EOF"},
	} {
		got := [2]string{redirected(t, c.path, 0), redirected(t, c.path, time.Hour)}
		if got[0] != got[1] || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %s\nwith a time limit: %s\nwant %s", c.path, got[0], got[1], c.want)
		}
	}
}

// redirected makes a call that is redirected, and returns what the servers saw and what the caller was told.
func redirected(t *testing.T, path string, limit time.Duration) string {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	note := func(at string, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		token := ""
		if r.Header.Get("Authorization") == "Bearer t" && r.Header.Get("Idempotency-Key") == "k" {
			token = " token"
		}
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, strings.TrimSpace(at+r.Method+" "+r.URL.Path+token+" "+string(body)))
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("other ", r)
		fmt.Fprint(w, `{"n":2}`)
	}))
	defer other.Close()
	var first *httptest.Server
	first = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("", r)
		w.Header().Set("Location", other.URL+"/v1/there")
		switch r.URL.Path {
		case "/v1/loop":
			w.Header().Set("Location", first.URL+"/v1/loop")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/v1/nowhere":
			w.Header().Del("Location")
			w.WriteHeader(http.StatusFound)
		case "/v1/hangup":
			panic(http.ErrAbortHandler)
		default:
			var status int
			fmt.Sscanf(r.URL.Path, "/v1/%d", &status)
			w.WriteHeader(status)
		}
	}))
	defer first.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c, err := client.New(first.URL, "t", client.Options{HTTP: &http.Client{Transport: transport, Timeout: limit}, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ N int }
	err = c.Call(client.WithKey(context.Background(), "k"), http.MethodPost, "/v1"+path, nil, map[string]int{"n": 1}, &out)
	mu.Lock()
	defer mu.Unlock()
	return strings.NewReplacer(first.URL, "FIRST", other.URL, "OTHER").Replace(fmt.Sprintf("%s: %d, %v", strings.Join(seen, "; "), out.N, err))
}

// TestWhatTheHTTPClientSaysOfRedirectsIsAsked has a client that follows none, and a server that is away.
func TestWhatTheHTTPClientSaysOfRedirectsIsAsked(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.URL.Path)
		mu.Unlock()
		http.Redirect(w, r, "/v1/there", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	var errs []string
	for _, limit := range []time.Duration{0, time.Hour} {
		own := &http.Client{Transport: &http.Transport{}, Timeout: limit, CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("no further") }}
		t.Cleanup(own.CloseIdleConnections)
		for _, url := range []string{s.URL, "http://127.0.0.1:1", strings.Replace(s.URL, "http:", "https:", 1)} {
			c, err := client.New(url, "t", client.Options{HTTP: own, Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			err = c.Call(context.Background(), http.MethodGet, "/v1/here", nil, nil, nil)
			errs = append(errs, strings.ReplaceAll(fmt.Sprintf("%T %v", err, err), url, "URL"))
		}
	}
	if !slices.Equal(errs[:3], errs[3:]) || !strings.Contains(errs[0], "no further") || !strings.Contains(errs[1], `Get "URL/v1/here": dial tcp`) || !strings.Contains(errs[2], "does not use TLS") {
		t.Errorf("%q", errs)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(seen, []string{"/v1/here", "/v1/here"}) {
		t.Errorf("the server saw %q", seen)
	}
}
