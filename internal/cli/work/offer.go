package work

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// take answers an offer, and works on the task.
func (w *worker) take(ctx context.Context, item client.Item) {
	if len(w.o.Preview) > 0 && !w.preview(ctx, item) {
		return
	}
	if err := w.o.Check(); err != nil { // it existed when the worker started
		w.miss(item)
		w.say("%s: not accepted: %s; the offer is left unanswered", item.ID, err)
		return
	}
	a, err := insist(ctx, func(ctx context.Context) (client.Accepted, error) {
		return w.c.Accept(ctx, item.ID, client.AcceptInput{Offer: item.Offer, Render: true, Via: client.ViaCLI})
	})
	if err != nil {
		w.say("%s: could not be accepted: %s", item.ID, err)
		return
	}
	j := &job{w: w, handoff: item.ID, task: a.Task, epoch: a.Epoch, lease: a.Lease, content: a.Content, look: make(chan struct{}, 1)}
	defer w.watch(j)()
	if j.content == nil && !j.awaitConfirm(ctx) {
		return
	}
	w.say("%s: accepted from %s", item.ID, item.From)
	j.run(ctx)
}

// preview runs the preview program, and rejects the offer if the program decides so. If it does not exit before the offer ends, the offer
// is left unanswered.
func (w *worker) preview(ctx context.Context, item client.Item) bool {
	if !item.Ends.IsZero() {
		left := time.Until(item.Ends)
		if left <= 0 { // the clocks differ
			left = beatEvery
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, left)
		defer cancel()
	}
	doc, err := json.Marshal(item)
	if err != nil {
		w.say("%s: %s", item.ID, err)
		return false
	}
	var out result
	said := &lines{show: w.o.Stderr, showing: &w.saying, prefix: item.ID + ": ", progress: func(string) {}}
	code, err := program{
		args: w.o.Preview, env: w.env(item.Task, item.ID), stdin: bytes.NewReader(doc), stdout: &out, stderr: said, grace: w.o.Grace,
	}.run(ctx)
	said.flush()
	switch {
	case ctx.Err() != nil:
		w.miss(item)
		w.say("%s: the preview did not exit in time; the offer is left unanswered", item.ID)
		return false
	case err != nil:
		said.tail = []byte("the preview cannot be run: " + err.Error())
	case code == 0:
		return true
	}
	in := client.RejectInput{Offer: item.Offer, Reason: rejection(code), Detail: said.last()}
	if in.Reason == client.MissingContext {
		in.Missing = strings.Fields(out.b.String())
	}
	_, err = insist(ctx, func(ctx context.Context) (client.Receipt, error) { return w.c.Reject(ctx, item.ID, in) })
	if err != nil {
		w.say("%s: could not be rejected: %s", item.ID, err)
		return false
	}
	w.say("%s: rejected as %s: %s", item.ID, in.Reason, in.Detail)
	return false
}

func rejection(code int) client.Rejection {
	switch code {
	case 3:
		return client.NotCapable
	case 4:
		return client.Overloaded
	case 5:
		return client.MissingContext
	}
	return client.Refused
}

// awaitConfirm waits for the sender's confirmation, and fetches the content.
func (j *job) awaitConfirm(ctx context.Context) bool {
	for {
		h, err := insist(ctx, func(ctx context.Context) (client.Handoff, error) { return j.w.c.Handoff(ctx, j.handoff) })
		if err != nil {
			j.say("dropped: %s", err)
			return false
		}
		if h.Stage == client.StageTransferred {
			return j.fetch(ctx)
		}
		if h.Stage != client.StageAccepted || h.Receiver != j.w.o.Agent {
			j.say("dropped: the sender did not confirm (%s)", h.Stage)
			return false
		}
		if wire.Sleep(ctx, idle/2) != nil {
			return false
		}
	}
}

// fetch reads the task and its content, if the acceptance did not return them.
func (j *job) fetch(ctx context.Context) bool {
	t, err := insist(ctx, func(ctx context.Context) (client.Task, error) { return j.w.c.Task(ctx, j.task) })
	if err == nil && t.Owner != j.w.o.Agent {
		err = fmt.Errorf("%s owns the task", t.Owner)
	}
	var content client.Sheet
	if err == nil {
		content, err = insist(ctx, func(ctx context.Context) (client.Sheet, error) {
			return j.w.c.Content(ctx, j.task, client.ContentInput{Render: true, Via: client.ViaCLI})
		})
	}
	if err != nil {
		j.say("dropped: %s", err)
		return false
	}
	j.epoch, j.lease, j.content = t.Epoch, t.Lease, &content
	return true
}

// env are the environment variables of all programs of the worker.
func (w *worker) env(task, handoff string) []string {
	return append([]string{
		"TRAPEZE_URL=" + w.c.URLs(), "TRAPEZE_TOKEN=" + w.o.Token, "TRAPEZE_AGENT=" + w.o.Agent,
		"TRAPEZE_TASK=" + task, "TRAPEZE_HANDOFF=" + handoff,
	}, w.o.TrustEnv...)
}

// traceEnv is the trace context of an envelope for a program, as OpenTelemetry specifies: tools for tracing, and trapeze commands,
// continue the trace. Without one, the program gets none, and not the worker's own.
func traceEnv(sealed json.RawMessage) []string {
	var doc struct {
		Trace struct{ Traceparent, Tracestate string }
	}
	if err := json.Unmarshal(sealed, &doc); err != nil || doc.Trace.Traceparent == "" {
		return []string{"TRACEPARENT=", "TRACESTATE="}
	}
	return []string{"TRACEPARENT=" + doc.Trace.Traceparent, "TRACESTATE=" + doc.Trace.Tracestate}
}
