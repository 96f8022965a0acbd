package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// quiet is a response writer that forgets what it is given.
type quiet struct {
	header http.Header
	status int
}

func (q *quiet) Header() http.Header         { return q.header }
func (q *quiet) Write(b []byte) (int, error) { return len(b), nil }
func (q *quiet) WriteHeader(status int)      { q.status = status }

// BenchmarkHandler compares a call of the handler, without sockets, with the same call of the use case.
func BenchmarkHandler(b *testing.B) {
	h := open(b, httpapi.Options{})
	agent, token := h.agent("writer")
	owner, err := h.app.Tokens.Authenticate(b.Context(), token)
	if err != nil {
		b.Fatal(err)
	}
	mine, err := agent.CreateTask(b.Context(), client.CreateInput{Intent: "mine", Start: true})
	if err != nil {
		b.Fatal(err)
	}
	big := `{"intent":"write","content":{"current_state":"` + strings.Repeat("x", 1024) + `","data":{"n":1}},"limits":{"hops":-1},"send":{"to":["writer"],"kind":"warm"}}`
	var create tasks.CreateInput
	if err := json.Unmarshal([]byte(big), &create); err != nil {
		b.Fatal(err)
	}
	heartbeat := tasks.HeartbeatInput{Task: mine.Task, Epoch: mine.Epoch}
	for _, bench := range []struct {
		name, path, body string
		status           int
		direct           func()
	}{
		{"heartbeat", "/v1/tasks/" + mine.Task + "/heartbeat", `{"epoch":1}`, 200, func() {
			if _, err := h.app.Tasks.Heartbeat(b.Context(), owner.WithKey("k"), heartbeat); err != nil {
				b.Fatal(err)
			}
		}},
		{"refused create of 1 KiB", "/v1/tasks", big, 400, func() {
			if _, err := h.app.Tasks.Create(b.Context(), owner.WithKey("k"), &create); err == nil {
				b.Fatal("not refused")
			}
		}},
	} {
		b.Run(bench.name+"/handler", func(b *testing.B) {
			b.ReportAllocs()
			header := http.Header{
				"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Idempotency-Key": {"k"},
			}
			u, err := url.Parse(h.URL + bench.path)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				w := &quiet{header: http.Header{}}
				r := &http.Request{
					Method: http.MethodPost, URL: u, Host: "localhost", Header: header, Proto: "HTTP/1.1", ProtoMajor: 1,
					ProtoMinor: 1, Body: io.NopCloser(strings.NewReader(bench.body)), ContentLength: int64(len(bench.body)),
				}
				h.Config.Handler.ServeHTTP(w, r)
				if w.status != bench.status {
					b.Fatal(w.status)
				}
			}
		})
		b.Run(bench.name+"/use case", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.direct()
			}
		})
	}
}
