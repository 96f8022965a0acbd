package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/tracing"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestOnlyTheIDOfASpanIsTakenForOne(t *testing.T) {
	for id, ok := range map[string]bool{
		"c7ad6b7169203331": true, "0000000000000001": true, "0000000000000000": false, "": false, "c7ad6b716920333": false, "C7AD6B7169203331": false,
		"c7ad6b7169203331c": false, "c7ad6b716920333\n": false,
	} {
		got, is := tracing.Below(tracing.Context{Parent: traceparent, State: "a=1"}, id)
		if is != ok || ok && got != (tracing.Context{Parent: "00-0af7651916cd43dd8448eb211c80319c-" + id + "-01", State: "a=1"}) {
			t.Errorf("%q: %v, %v", id, got, is)
		}
	}
	if _, is := tracing.Below(tracing.Context{}, "c7ad6b7169203331"); is {
		t.Error("a span is below no context")
	}
}

// spans is a tracer that keeps how spans began.
type spans struct{ started, ended []tracing.Start }

type oneSpan struct {
	of    *spans
	start tracing.Start
}

func (s *spans) Start(start tracing.Start) tracing.Span {
	s.started = append(s.started, start)
	return oneSpan{s, start}
}

func (o oneSpan) Context() tracing.Context {
	return tracing.Context{Parent: "00-11111111111111111111111111111111-" + o.start.ID + "-01"}
}

func (o oneSpan) End(tracing.Answer) { o.of.ended = append(o.of.ended, o.start) }

const (
	reads = "http://localhost/v1/inbox"
	about = "http://localhost/v1/tasks/task_0000000000000000000000000a"
)

// TestAToolOfAnotherProcessIsInTheTraceOfItsTask: the first answer about a task says which that is. What the tool asked before has a trace apart.
func TestAToolOfAnotherProcessIsInTheTraceOfItsTask(t *testing.T) {
	to := &spans{}
	_, tool := tracing.With(t.Context(), to, "inbox", tracing.Context{})
	ask := func(method, url string) http.Header {
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		tool.Ask(r)
		return r.Header
	}
	apart := ask(http.MethodGet, reads).Get("Traceparent")
	if apart == "" {
		t.Error("a call that is about no task has no context")
	}
	h := ask(http.MethodGet, about)
	id := h.Get(tracing.SpanHeader)
	if id == "" || h.Get("Traceparent") != "" || apart[36:52] != id {
		t.Errorf("the call about a task says %v", h)
	}
	tool.Learn(http.Header{}) // the task is not there
	if h := ask(http.MethodGet, about); h.Get(tracing.SpanHeader) != id {
		t.Errorf("the next call says %v", h)
	}
	tool.Learn(http.Header{tracing.ParentHeader: {traceparent}})
	tool.Learn(http.Header{tracing.ParentHeader: {"00-22222222222222222222222222222222-b7ad6b7169203331-01"}}) // of another task
	if h := ask(http.MethodGet, about); h.Get(tracing.SpanHeader) != "" || h.Get("Traceparent")[36:52] != id {
		t.Errorf("once the tool knows its trace, it says %v", h)
	}
	tool.End(nil)
	if len(to.ended) != 1 || to.ended[0].Parent.Parent != traceparent || to.ended[0].ID != id || to.ended[0].Link.Parent != apart {
		t.Errorf("the span began as %+v", to.ended)
	}
}

func TestAToolThatMakesATaskBeginsItsTrace(t *testing.T) {
	to := &spans{}
	_, tool := tracing.With(t.Context(), to, "send", tracing.Context{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/v1/tasks", nil)
	if err != nil {
		t.Fatal(err)
	}
	tool.Ask(r)
	tool.Learn(http.Header{tracing.ParentHeader: {traceparent}})
	tool.End(nil)
	if len(to.ended) != 1 || to.ended[0].Parent != (tracing.Context{}) || r.Header.Get("Traceparent") == "" {
		t.Errorf("%+v, %v", to.ended, r.Header)
	}
}
