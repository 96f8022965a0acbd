package oauth

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// silent is an issuer that takes requests and never answers.
type silent struct{ asked atomic.Int32 }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func withSilentIssuer(t *testing.T) (*Verifier, *silent) {
	t.Helper()
	v, err := New(Config{Issuer: "https://issuer.example.org", Resource: "https://trapeze.example.org/mcp", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &silent{}
	v.issuer.client = &http.Client{Transport: s}
	return v, s
}

func TestAnIssuerThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, s := withSilentIssuer(t)
		ring := func(ctx context.Context) error {
			_, err := v.issuer.current(ctx)
			return err
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := ring(impatient); refusal.CodeOf(err) != refusal.Unavailable || s.asked.Load() != 1 {
			t.Errorf("a caller that gives up: %v, asked %d times", err, s.asked.Load())
		}
		began := time.Now()
		done := make(chan error)
		for range 10 {
			go func() { done <- ring(t.Context()) }()
		}
		for range 10 {
			if err := <-done; refusal.CodeOf(err) != refusal.Unavailable {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != askLimit-time.Second || s.asked.Load() != 1 { // the first look goes on, and is for all
			t.Errorf("ten callers waited %s, and the issuer was asked %d times", took, s.asked.Load())
		}
	})
}

func TestCallersWhoLeaveDoNotKeepTheKeysFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, s := withSilentIssuer(t)
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, _ = v.issuer.current(ctx) // it leaves
			cancel()
		}
		time.Sleep(askLimit + pause)
		if s.asked.Load() != 1 {
			t.Errorf("they made the issuer be asked %d times", s.asked.Load())
		}
		if _, err := v.issuer.current(t.Context()); s.asked.Load() != 2 {
			t.Errorf("then nobody could ask: %v", err)
		}
	})
}
