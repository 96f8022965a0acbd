//go:build slow

package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

func TestLargeRequestsOfOneAgentAreDecodedInTurn(t *testing.T) {
	work := quota.NewWork(1)
	h := openWith(t, httpapi.Options{}, usecase.Options{Work: work})
	_, junk := h.agent("junk")
	_, honest := h.agent("honest")
	full := mustBe(t, h, junk)
	leave, err := work.EnterBody(t.Context(), full) // one is decoded, and as many wait as may
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range 64 {
		go func() {
			for overloaded := true; overloaded; { // by the look below
				_, err := work.EnterBody(ctx, full)
				overloaded = refusal.CodeOf(err) == refusal.Overloaded
			}
		}()
	}
	for {
		short, stop := context.WithCancel(t.Context())
		stop()
		if _, err := work.EnterBody(short, full); refusal.CodeOf(err) == refusal.Overloaded {
			break
		}
	}
	small := `{"intent":"write it","start":true}`
	for _, long := range []string{large(20_000), large(100_000)} { // of usual length, and longer
		for _, who := range []struct {
			token, line, body string
			status            int
		}{
			{junk, "POST /v1/tasks", long, http.StatusTooManyRequests},
			{junk, "POST /v1/tasks?no=1", long, http.StatusTooManyRequests}, // also what is refused
			{junk, "POST /v1/tasks", small, http.StatusCreated},
			{honest, "POST /v1/tasks", long, http.StatusCreated},
		} {
			r := h.call(who.token, who.line, who.body)
			if r.status != who.status || r.status == http.StatusTooManyRequests && (r.header.Get("Retry-After") != "1" || r.problem(t).Code != "overloaded") {
				t.Errorf("%s with %d bytes: %d %.300s", who.line, len(who.body), r.status, r.body)
			}
		}
	}
	cancel()
	leave()
	for range 3 { // one after the other
		if r := h.call(junk, "POST /v1/tasks", large(100_000)); r.status != http.StatusCreated {
			t.Errorf("afterwards: %d %.300s", r.status, r.body)
		}
	}
}
