//go:build slow

package openai_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing/openai"
)

func TestAQueryDoesNotWaitForASlowModelAndThenLeavesItAlone(t *testing.T) {
	stop := make(chan struct{})
	m := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	defer close(stop)
	now := time.Now()
	e := m.embedder(t, func(o *openai.EmbedOptions) {
		o.Timeout, o.Now = 20*time.Millisecond, func() time.Time { return now }
	})
	ask := func(calls int32) {
		t.Helper()
		if _, err := e.Query(t.Context(), "a"); refusal.CodeOf(err) != refusal.Unavailable || m.calls.Load() != calls {
			t.Errorf("%v after %d calls, want %d", err, m.calls.Load(), calls)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Query(gone, "a"); err == nil {
		t.Error("a vector for a caller that has gone")
	}
	before := m.calls.Load()
	for n := range 4 {
		ask(before + int32(min(n+1, 2))) //nolint:gosec // small
	}
	now = now.Add(time.Minute)
	ask(before + 3)
}
