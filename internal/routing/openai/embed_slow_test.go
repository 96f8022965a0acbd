//go:build slow

package openai_test

import (
	"context"
	"net/http"
	"strings"
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
	most := int32(0) // calls that can have arrived: a machine that is busy may have given one up before it was sent
	ask := func(asked bool) {
		t.Helper()
		if asked {
			most++
		}
		_, err := e.Query(t.Context(), "a")
		if refusal.CodeOf(err) != refusal.Unavailable || strings.Contains(err.Error(), "is not asked for a while") == asked || m.calls.Load() > most {
			t.Errorf("%v after %d calls, want at most %d", err, m.calls.Load(), most)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel() // before anything is sent
	if _, err := e.Query(gone, "a"); err == nil {
		t.Error("a vector for a caller that has gone")
	}
	for n := range 4 {
		ask(n < 2)
	}
	now = now.Add(time.Minute)
	ask(true)
}
