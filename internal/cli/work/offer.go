package work

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
)

// take answers one offer and does the job.
func (w *worker) take(ctx context.Context, item client.Item) {
	if len(w.o.Preview) > 0 && !w.preview(ctx, item) {
		return
	}
	if err := w.o.Check(); err != nil { // it was there when the worker began
		w.miss(item)
		w.say("%s: not accepted: %s; the offer stays unanswered", item.ID, err)
		return
	}
	a, err := insist(ctx, func(ctx context.Context) (client.Accepted, error) {
		return w.c.Accept(ctx, item.ID, client.AcceptInput{Offer: item.Offer, Render: true})
	})
	if err != nil {
		w.say("%s: not ours: %s", item.ID, err)
		return
	}
	j := &job{w: w, handoff: item.ID, task: a.Task, epoch: a.Epoch, lease: a.Lease, sheet: a.Content}
	if j.sheet == nil && !j.awaitConfirm(ctx) {
		return
	}
	w.say("%s: accepted from %s", item.ID, item.From)
	j.run(ctx)
}

// preview asks the preview program, and rejects the offer if that says so. A preview that does not end before the
// offer does leaves it unanswered.
func (w *worker) preview(ctx context.Context, item client.Item) bool {
	if !item.Ends.IsZero() {
		left := time.Until(item.Ends)
		if left <= 0 { // its clock and ours differ
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
		w.say("%s: the preview did not end in time; the offer stays unanswered", item.ID)
		return false
	case err != nil:
		said.tail = []byte("the preview cannot be run: " + err.Error())
	case code == 0:
		return true
	}
	in := client.RejectInput{Offer: item.Offer, Why: rejection(code), Detail: said.last()}
	if in.Why == client.MissingContext {
		in.Missing = strings.Fields(out.b.String())
	}
	_, err = insist(ctx, func(ctx context.Context) (client.Receipt, error) { return w.c.Reject(ctx, item.ID, in) })
	if err != nil {
		w.say("%s: could not be rejected: %s", item.ID, err)
		return false
	}
	w.say("%s: rejected as %s: %s", item.ID, in.Why, in.Detail)
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

// awaitConfirm waits until the source of an explicit handoff has let go, and fetches the content.
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
			j.say("dropped: the source did not let go (%s)", h.Stage)
			return false
		}
		if wire.Sleep(ctx, idle/2) != nil {
			return false
		}
	}
}

// fetch reads how the task stands and its content, where the acceptance did not bring them.
func (j *job) fetch(ctx context.Context) bool {
	t, err := insist(ctx, func(ctx context.Context) (client.Task, error) { return j.w.c.Task(ctx, j.task) })
	if err == nil && t.Owner != j.w.o.Agent {
		err = fmt.Errorf("%s owns the task", t.Owner)
	}
	var sheet client.Sheet
	if err == nil {
		sheet, err = insist(ctx, func(ctx context.Context) (client.Sheet, error) {
			return j.w.c.Content(ctx, j.task, client.ContentInput{Render: true})
		})
	}
	if err != nil {
		j.say("dropped: %s", err)
		return false
	}
	j.epoch, j.lease, j.sheet = t.Epoch, t.Lease, &sheet
	return true
}

// env is what every program of the worker finds in its environment.
func (w *worker) env(task, handoff string) []string {
	return []string{
		"TRAPEZE_URL=" + w.c.URL(), "TRAPEZE_TOKEN=" + w.o.Token, "TRAPEZE_AGENT=" + w.o.Agent,
		"TRAPEZE_TASK=" + task, "TRAPEZE_HANDOFF=" + handoff,
	}
}

// tempFile writes a file that is its owner's alone.
func tempFile(content []byte) (string, error) {
	f, err := os.CreateTemp("", "trapeze-envelope-*.json") // made with mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(f.Name()) // what there is of it is of no use
	}
	return f.Name(), err
}
