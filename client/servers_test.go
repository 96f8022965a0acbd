package client_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// fleet is servers that share a record: what each answers, and what it was asked.
type fleet struct {
	mu    sync.Mutex
	down  map[string]bool
	asked []*http.Request
	serve func(r *http.Request) *http.Response
}

// RoundTrip implements [http.RoundTripper].
func (f *fleet) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	if f.down[r.URL.Host] {
		return nil, errors.New("connection refused")
	}
	return f.serve(r), nil
}

// hosts are those that were asked, in order.
func (f *fleet) hosts() (list []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.asked {
		list = append(list, r.URL.Host)
	}
	f.asked = nil
	return list
}

func answerOf(status int, body string, header ...string) *http.Response {
	res := &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}
	for i := 0; i+1 < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

func newFleet(t *testing.T, o client.Options, serve func(r *http.Request) *http.Response) (*fleet, *client.Client) {
	t.Helper()
	f := &fleet{down: map[string]bool{}, serve: serve}
	o.HTTP = &http.Client{Transport: f}
	c, err := client.New("http://a, http://b,http://c/", "tz_x", o)
	if err != nil {
		t.Fatal(err)
	}
	return f, c
}

func TestACallGoesOnToTheNextServerWithItsKeyAndWhatItHasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := newFleet(t, client.Options{}, func(*http.Request) *http.Response { return answerOf(200, `{}`, "Trapeze-Position", "7") })
		if _, err := c.Me(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.hosts()
		f.down["a"], f.down["b"] = true, true
		began := time.Now()
		if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "x"}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("it took %v", d)
		}
		keys := map[string]bool{}
		for _, r := range f.asked {
			keys[r.Header.Get("Idempotency-Key")] = true
		}
		if len(keys) != 1 || keys[""] {
			t.Errorf("the keys are %v", keys)
		}
		if got := f.hosts(); !slices.Equal(got, []string{"a", "b", "c"}) || c.URL() != "http://c" || c.URLs() != "http://c,http://a,http://b" {
			t.Errorf("%v were asked, then %s of %s", got, c.URL(), c.URLs())
		}
		if _, err := c.Inbox(t.Context(), client.InboxOptions{}); err != nil {
			t.Fatal(err)
		}
		if least := f.asked[0].Header.Get("Trapeze-Min-Position"); least != "7" || f.asked[0].URL.Host != "c" {
			t.Errorf("the next read asks %s for position %q", f.asked[0].URL.Host, least)
		}
	})
}

func TestAServerThatCannotDoItsWorkIsLeftAndARefusalIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const away = `{"code":"unavailable","detail":"the database does not answer"}`
		f, c := newFleet(t, client.Options{}, func(r *http.Request) *http.Response {
			if r.URL.Host == "a" {
				return answerOf(503, away, "Retry-After", "60")
			}
			return answerOf(404, `{"code":"not_found","detail":"no"}`)
		})
		began := time.Now()
		if _, err := c.Task(t.Context(), "task_x"); !errors.Is(err, client.NotFound) {
			t.Error(err)
		}
		if got, d := f.hosts(), time.Since(began); !slices.Equal(got, []string{"a", "b"}) || d > time.Second {
			t.Errorf("%v were asked in %v", got, d)
		}
		// All are away: each is asked in each round, and the pauses between rounds are those of one server.
		f, c = newFleet(t, client.Options{Retries: 2}, func(*http.Request) *http.Response { return answerOf(503, away) })
		if _, err := c.Me(t.Context()); !errors.Is(err, client.Unavailable) {
			t.Error(err)
		}
		if got := f.hosts(); !slices.Equal(got, []string{"a", "b", "c", "a", "b", "c", "a"}) {
			t.Errorf("%v were asked", got)
		}
	})
}

func TestAWaitAndAStreamGoOnAtTheNextServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		event := func(id string) string { return "id: " + id + "\nevent: entry\ndata: {\"position\":" + id + "}\n\n" }
		f, c := newFleet(t, client.Options{}, func(r *http.Request) *http.Response {
			switch {
			case strings.HasSuffix(r.URL.Path, "/events") && r.URL.Query().Get("after") == "1":
				return answerOf(200, event("2"))
			case strings.HasSuffix(r.URL.Path, "/events"):
				return answerOf(200, event("1"))
			}
			time.Sleep(time.Second)
			return answerOf(200, `{}`)
		})
		stop := errors.New("enough")
		var seen []uint64
		err := c.Events(t.Context(), 0, func(e client.Event) error {
			seen = append(seen, e.Position)
			f.mu.Lock()
			f.down["a"] = true // with its streams
			f.mu.Unlock()
			if len(seen) == 2 {
				return stop
			}
			return nil
		})
		if got := f.hosts(); !errors.Is(err, stop) || !slices.Equal(seen, []uint64{1, 2}) || !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Errorf("%v, %v from %v", err, seen, got)
		}
		f.mu.Lock()
		f.down["b"] = true
		f.mu.Unlock()
		if _, err := c.Inbox(t.Context(), client.InboxOptions{Wait: 20 * time.Second}); err != nil {
			t.Error(err)
		}
		if got := f.hosts(); !slices.Equal(got, []string{"b", "c"}) {
			t.Errorf("a wait asked %v", got)
		}
	})
}

func TestAMalformedServerAmongSeveralIsRefused(t *testing.T) {
	for _, urls := range []string{"", ",", "http://a,", "http://a,ftp://b", "http://a,http://u:p@b", "http://a http://b"} {
		if _, err := client.New(urls, "tz_x", client.Options{}); err == nil {
			t.Errorf("%q is accepted", urls)
		}
	}
}
