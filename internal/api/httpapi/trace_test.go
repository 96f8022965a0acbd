package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

const (
	someTrace  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	otherTrace = "00-11f7651916cd43dd8448eb211c80319c-c7ad6b7169203331-00"
)

// traceIn returns the trace context of the envelope of a task, a handoff or a share.
func traceIn(t *testing.T, c *client.Client, id string) (parent, state string) {
	t.Helper()
	s, err := c.Content(t.Context(), id, client.ContentInput{})
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Trace struct{ Traceparent, Tracestate string }
	}
	if err := json.Unmarshal(s.Envelope, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Trace.Traceparent, doc.Trace.Tracestate
}

func TestTheTraceContextOfARequestReachesTheReceiver(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder, _ := h.agent("coder")
	reviewer, _ := h.agent("reviewer")
	traced := func(parent, state string) context.Context { return client.WithTrace(t.Context(), parent, state) }
	to := &client.SendInput{To: []string{"reviewer"}}
	for name, send := range map[string]func(context.Context) (id string, err error){
		"create": func(ctx context.Context) (string, error) {
			r, err := coder.CreateTask(ctx, client.CreateInput{Intent: "Review", Send: to})
			return r.Handoff, err
		},
		"send": func(ctx context.Context) (string, error) {
			made, err := coder.CreateTask(t.Context(), client.CreateInput{Intent: "Review", Start: true})
			if err != nil {
				return "", err
			}
			r, err := coder.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: to.To, Kind: client.Cold})
			return r.Handoff, err
		},
		"escalate": func(ctx context.Context) (string, error) {
			made, err := coder.CreateTask(t.Context(), client.CreateInput{Intent: "Review", Start: true})
			if err != nil {
				return "", err
			}
			r, err := coder.Escalate(ctx, made.Task, client.EscalateInput{Epoch: made.Epoch, To: "reviewer"})
			return r.Handoff, err
		},
		"share": func(ctx context.Context) (string, error) {
			made, err := coder.CreateTask(t.Context(), client.CreateInput{Intent: "Review", Start: true})
			if err != nil {
				return "", err
			}
			_, err = coder.Share(ctx, made.Task, client.ShareInput{Epoch: made.Epoch, To: "reviewer"})
			return made.Task + ".s1", err
		},
	} {
		for _, c := range []struct{ parent, state, wantParent, wantState string }{
			{someTrace, "a=1,b=2", someTrace, "a=1,b=2"},
			{"", "", "", ""},
			{"00-malformed-01", "a=1", "", ""},
			{"00-\x00", "\x00", "", ""},
		} {
			id, err := send(traced(c.parent, c.state))
			if err != nil {
				t.Fatalf("%s with %q: %v", name, c.parent, err)
			}
			if parent, state := traceIn(t, reviewer, id); parent != c.wantParent || state != c.wantState {
				t.Errorf("%s with %q: the receiver gets %q, %q", name, c.parent, parent, state)
			}
		}
	}
}

func TestATaskKeepsItsLastTraceContext(t *testing.T) {
	h := open(t, httpapi.Options{})
	coder, _ := h.agent("coder")
	reviewer, _ := h.agent("reviewer")
	made, err := coder.CreateTask(client.WithTrace(t.Context(), someTrace, ""), client.CreateInput{Intent: "Review", Send: &client.SendInput{To: []string{"reviewer"}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		trace, want string
		kind        client.Kind
	}{{"", someTrace, client.Warm}, {"", someTrace, client.Cold}, {otherTrace, otherTrace, client.Warm}, {"", otherTrace, client.Warm}} {
		holder, next, name := reviewer, coder, "coder"
		if i%2 == 1 {
			holder, next, name = coder, reviewer, "reviewer"
		}
		r, err := holder.Accept(t.Context(), made.Handoff, client.AcceptInput{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := holder.Progress(t.Context(), r.Task, client.ProgressInput{Epoch: r.Epoch, Note: "half of it is done"}); err != nil {
			t.Fatal(err)
		}
		made, err = holder.Send(client.WithTrace(t.Context(), c.trace, ""), r.Task, client.SendInput{Epoch: r.Epoch, To: []string{name}, Kind: c.kind})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := traceIn(t, next, made.Handoff); got != c.want {
			t.Errorf("handoff %d, with %q: %q, want %q", i+2, c.trace, got, c.want)
		}
	}
}

func TestARequestWithTwoTraceparentsHasNone(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("coder")
	reviewer, _ := h.agent("reviewer")
	for _, c := range []struct {
		parents []string
		want    string
	}{{[]string{someTrace}, someTrace}, {[]string{someTrace, otherTrace}, ""}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/v1/tasks", strings.NewReader(`{"intent": "Review", "send": {"to": ["reviewer"]}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Traceparent": c.parents}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		var made client.Receipt
		err = json.NewDecoder(res.Body).Decode(&made)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusCreated {
			t.Fatalf("%v: %s, %v", c.parents, res.Status, err)
		}
		if got, _ := traceIn(t, reviewer, made.Handoff); got != c.want {
			t.Errorf("%v: %q", c.parents, got)
		}
	}
}
