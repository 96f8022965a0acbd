package client_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// roundTrip is a transport that is one function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestACallThatWaitsIsRepeatedForTheRestOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		c, err := client.New("http://localhost", "tz_x", client.Options{Retries: 3, Pause: time.Nanosecond, HTTP: &http.Client{
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				asked = append(asked, r.URL.Query().Get("wait"))
				time.Sleep(8 * time.Second)
				return nil, errors.New("the server went away")
			}),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.Inbox(t.Context(), client.InboxOptions{Wait: 20 * time.Second}); err == nil {
			t.Error("there was an answer")
		}
		for i, wait := range asked { // pauses of nanoseconds are in between
			d, err := time.ParseDuration(wait)
			if err != nil {
				t.Fatal(err)
			}
			asked[i] = d.Round(time.Second).String()
		}
		if want := []string{"20s", "12s", "4s", "0s"}; !slices.Equal(asked, want) {
			t.Errorf("it asked to wait %v, want %v", asked, want)
		}
	})
}

// What an earlier call waited in vain counts for those that follow at once, and not for one that is made long after.
func TestEachOutageHasThePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := client.New("http://localhost", "tz_x", client.Options{Retries: 6, Patience: 25 * time.Second, HTTP: &http.Client{
			Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }),
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			after       time.Duration
			least, most time.Duration
		}{{0, 20 * time.Second, 25 * time.Second}, {0, 0, 10 * time.Second}, {time.Hour, 20 * time.Second, 25 * time.Second}, {time.Minute, 20 * time.Second, 25 * time.Second}} {
			time.Sleep(one.after)
			began := time.Now()
			if _, err := c.Me(t.Context()); err == nil {
				t.Error("there was an answer")
			}
			if took := time.Since(began); took < one.least || took > one.most {
				t.Errorf("%s after the last call it gave up after %s, want %s to %s", one.after, took, one.least, one.most)
			}
		}
	})
}
