package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

// previewed makes a task of an agent, and the request that previews its envelope with a long text.
func (h *harness) previewed(t testing.TB, token string) (line, body string) {
	t.Helper()
	var made struct{ Task string }
	r := h.call(token, "POST /v1/tasks", `{"intent":"write it","start":true}`)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status >= 300 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return "POST /v1/tasks/" + made.Task + "/preview", `{"content":{"data":{"text":"` + strings.Repeat("All the words that there are. ", 2000) + `"}},"pack":{"tokens":5000}}`
}

// checked makes a task of an agent whose result a schema describes, and the request that completes it.
func (h *harness) checked(t testing.TB, token string) (line string) {
	t.Helper()
	var made struct{ Task string }
	r := h.call(token, "POST /v1/tasks", `{"intent":"count","start":true,"expected":{"schema":{"properties":{"n":{"type":"integer"}}}}}`)
	if err := json.Unmarshal([]byte(r.body), &made); err != nil || r.status >= 300 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	return "POST /v1/tasks/" + made.Task + "/complete"
}

func TestTheWorkOfOneAgentIsItsOwn(t *testing.T) {
	work := quota.NewWork(1)
	h := openWith(t, httpapi.Options{}, usecase.Options{Work: work})
	_, junk := h.agent("junk")
	_, honest := h.agent("honest")
	full := mustBe(t, h, junk)
	done := h.checked(t, junk)
	leave, err := work.Enter(t.Context(), full) // one call runs, and as many wait as may
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range 16 {
		go func() {
			for overloaded := true; overloaded; { // by the look below
				_, err := work.Enter(ctx, full)
				overloaded = refusal.CodeOf(err) == refusal.Overloaded
			}
		}()
	}
	for {
		short, stop := context.WithCancel(t.Context())
		stop()
		if _, err := work.Enter(short, full); refusal.CodeOf(err) == refusal.Overloaded {
			break
		}
	}
	for _, who := range []struct {
		token  string
		status int
	}{{junk, http.StatusTooManyRequests}, {honest, http.StatusOK}} {
		line, body := h.previewed(t, who.token)
		for line, body := range map[string]string{line: body, "GET /v1/memory?q=words": ""} {
			r := h.call(who.token, line, body)
			if r.status != who.status || r.status == http.StatusTooManyRequests && (r.header.Get("Retry-After") != "1" || r.problem(t).Code != "overloaded") {
				t.Errorf("%s: %d %.300s", line, r.status, r.body)
			}
		}
	}
	if r := h.call(junk, done, `{"epoch":1,"result":{"data":{"n":"one"}}}`); r.status != http.StatusBadRequest || r.problem(t).Code != "invalid" {
		t.Errorf("a result that is not as expected, while its reads wait: %d %.300s", r.status, r.body)
	}
	if r := h.call(junk, done, `{"epoch":1,"result":{"data":{"n":1}}}`); r.status != http.StatusOK {
		t.Errorf("work that is finished while its reads wait: %d %.300s", r.status, r.body)
	}
	cancel()
	leave()
	line, body := h.previewed(t, junk)
	if r := h.call(junk, line, body); r.status != http.StatusOK {
		t.Errorf("afterwards: %d %.300s", r.status, r.body)
	}
}

// large is a request for a task whose content is long and nested.
func large(n int) string {
	deep := strings.Repeat(`[{"a":`, 20) + `"x"` + strings.Repeat(`}]`, 20)
	return `{"intent":"write it","start":true,"content":{"data":{"x":[` + strings.Repeat(deep+",", n/len(deep)) + `1]}}}`
}

// BenchmarkBeside is the work of an agent, a task that it makes and previews, alone, and beside another agent that previews from 8
// threads. Compare the medians.
func BenchmarkBeside(b *testing.B) {
	text := `{"intent":"write it","start":true,"content":{"data":{"text":"` + strings.Repeat("All the words that there are. ", 10_000) + `"}}}`
	refused := `{"intent":1,` + large(900_000)[1:]
	for _, s := range []struct {
		name          string
		threads, most int
		body          string // of a request for a task; empty: previews
	}{
		{"alone", 0, 0, ""},
		{"8 threads of previews", 8, 0, ""},
		{"8 threads of previews, unbounded", 8, 100, ""},
		{"8 threads of large tasks", 8, 0, text},
		{"8 threads of large tasks, unbounded", 8, 100, text},
		{"8 threads of small tasks", 8, 0, `{"intent":"write it","start":true}`},
		{"8 threads of nested tasks of 15 KB", 8, 0, large(15_000)},
		{"8 threads of nested tasks of 7 KB", 8, 0, large(7_000)},
		{"8 threads of nested tasks of 60 KB", 8, 0, large(60_000)},
		{"8 threads of nested tasks of 900 KB", 8, 0, large(900_000)},
		{"8 threads of nested tasks of 900 KB, unbounded", 8, 100, large(900_000)},
		{"8 threads of requests of 900 KB that are refused", 8, 0, refused},
		{"8 threads of requests of 900 KB that are refused, unbounded", 8, 100, refused},
	} {
		b.Run(s.name, func(b *testing.B) {
			threads := s.threads
			h := openWith(b, httpapi.Options{}, usecase.Options{Work: quota.NewWork(s.most)})
			_, junk := h.agent("junk")
			_, honest := h.agent("honest")
			line, body := h.previewed(b, junk)
			if s.body != "" {
				line, body = "POST /v1/tasks", s.body
			}
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			for range threads {
				go func() {
					for ctx.Err() == nil {
						h.call(junk, line, body)
					}
					done <- struct{}{}
				}()
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if r := h.call(honest, "POST /v1/tasks", `{"intent":"write it","start":true}`); r.status >= 300 {
					b.Fatal(r.body)
				}
				took = append(took, time.Since(start))
			}
			cancel()
			for range threads {
				<-done
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
	}
}
