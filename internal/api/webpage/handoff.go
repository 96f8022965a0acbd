package webpage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
	"github.com/trapezehq/trapeze/internal/api/webpage/sheet"
	"github.com/trapezehq/trapeze/internal/api/webpage/timeline"
)

// handoffPage is a handoff with the envelope as its receiver saw it.
type handoffPage struct {
	client.Handoff
	N         int
	Prompt    string
	Digest    string
	Undecided bool // several may receive it
	Envelope  sheet.Envelope
	Entries   []sheet.Entry // of the envelope, for a handoff without a prompt
	Drift     *client.Hop
	Whole     string            // the envelope, as JSON
	Refused   []timeline.Moment // offers that came to nothing: why it went to another receiver, or to nobody
}

// Reading says who reads what the page shows.
func (p handoffPage) Reading() string {
	switch {
	case p.Stage == client.StageAccepted, p.Stage == client.StageTransferred:
		return "As its receiver read it"
	case p.Ended.IsZero():
		return "As its receiver will read it"
	}
	return "As it was offered: nobody accepted it"
}

// Before is the number of the handoff before; 0: there is none.
func (p handoffPage) Before() int { return p.N - 1 }

func (v *visit) handoff(w http.ResponseWriter, r *http.Request) error {
	ctx, task := r.Context(), r.PathValue("task")
	n, err := strconv.Atoi(r.PathValue("hop"))
	if err != nil || n < 1 {
		return form.Invalid(fmt.Sprintf("%.20q is not the number of a handoff", r.PathValue("hop")), "go back to the task")
	}
	id := fmt.Sprintf("%s.h%d", task, n)
	doc, err := v.api.HandoffDocument(ctx, id)
	if err != nil {
		return err
	}
	got, err := v.read(ctx, doc)
	if err != nil {
		return err
	}
	body := handoffPage{Handoff: doc.Handoff, N: n, Prompt: got.Prompt, Digest: got.Digest, Undecided: got.Undecided}
	for _, m := range timeline.Moments(task, doc.Entries) {
		if m.Vain {
			body.Refused = append(body.Refused, m)
		}
	}
	if whole := got.Envelope; whole != nil {
		if err := json.Unmarshal(whole, &body.Envelope); err != nil {
			return err
		}
		if b, err := json.MarshalIndent(whole, "", "  "); err == nil {
			body.Whole = string(b)
		}
	}
	body.Entries = body.Envelope.Entries()
	if drift, err := v.api.Drift(ctx, task); err == nil {
		if i := slices.IndexFunc(drift.Hops, func(h client.Hop) bool { return h.Handoff == id }); i >= 0 {
			body.Drift = &drift.Hops[i]
		}
	}
	return v.show(w, r, "handoff", page{Title: fmt.Sprintf("Handoff %d", n), Live: following(append(body.Envelope.Items(), task, got.For)...), Body: body})
}

// read is what the receiver of a handoff reads. The prompt of an earlier handoff is empty for agents; the envelope is nil if the person may not read it.
func (v *visit) read(ctx context.Context, doc client.HandoffDocument) (client.Sheet, error) {
	got, err := v.api.Content(ctx, doc.ID, client.ContentInput{Render: true})
	if errors.Is(err, client.Expired) { // agents get that of the newest handoff alone
		return client.Sheet{Digest: cmp.Or(doc.Given, doc.Envelope), Envelope: given(doc)}, nil
	}
	return got, err
}

// given is the envelope that the receiver of a handoff was given: what was packed for it, or what was sent. It is nil if the reader may not read it:
// there is a text in its place then.
func given(doc client.HandoffDocument) json.RawMessage {
	object := func(b json.RawMessage) bool { return len(b) > 0 && b[0] == '{' }
	for _, e := range doc.Entries {
		var d struct {
			Digest   string          `json:"digest"`
			Envelope json.RawMessage `json:"envelope"`
		}
		if doc.Given != "" && json.Unmarshal(e.Details, &d) == nil && d.Digest == doc.Given && object(d.Envelope) {
			return d.Envelope
		}
	}
	if !object(doc.Context) {
		return nil
	}
	return doc.Context
}

// comparison is two envelopes of a task side by side.
type comparison struct {
	Task   string
	Intent string
	A, B   int
	Hops   []int
	Rows   []sheet.Difference
}

func (v *visit) compare(w http.ResponseWriter, r *http.Request) error {
	ctx, task, q := r.Context(), r.PathValue("task"), r.URL.Query()
	trail, err := v.api.Trail(ctx, task)
	if err != nil {
		return err
	}
	c := comparison{Task: task}
	for _, d := range trail.Handoffs {
		if n := timeline.Number(task, d.HandoffID); n > 0 {
			c.Hops = append(c.Hops, n)
		}
	}
	if len(c.Hops) < 2 {
		return form.Invalid("there is one handoff, or none", "compare a task that has moved at least twice")
	}
	var got [2]sheet.Envelope
	for i, name := range []string{"a", "b"} {
		n, err := strconv.Atoi(cmp.Or(q.Get(name), strconv.Itoa(c.Hops[len(c.Hops)-2+i])))
		if err != nil || n < 1 {
			return form.Invalid(fmt.Sprintf("%.20q is not the number of a handoff", q.Get(name)), "choose two handoffs of the list")
		}
		doc, err := v.api.HandoffDocument(ctx, fmt.Sprintf("%s.h%d", task, n))
		if err != nil {
			return err
		}
		read, err := v.read(ctx, doc)
		if err != nil {
			return err
		}
		if read.Envelope == nil {
			return form.Invalid(fmt.Sprintf("handoff %d has no envelope that you may read", n), "choose another")
		} else if err := json.Unmarshal(read.Envelope, &got[i]); err != nil {
			return err
		}
		if i == 0 {
			c.A = n
		} else {
			c.B = n
		}
	}
	c.Intent, c.Rows = got[1].Task.Intent, sheet.Compare(got[0], got[1])
	return v.show(w, r, "compare", page{Title: fmt.Sprintf("Handoffs %d and %d", c.A, c.B), Live: following(append(append(got[0].Items(), got[1].Items()...), task)...), Body: c})
}
