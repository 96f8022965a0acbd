package webpage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// envelope is the fields of an envelope that are compared.
type envelope struct {
	Task struct {
		Intent string `json:"intent"`
		Ask    string `json:"ask"`
		State  string `json:"state"`
	} `json:"task"`
	Summary     string       `json:"conversation_summary"`
	Facts       []point      `json:"key_facts"`
	Decisions   []point      `json:"decisions"`
	Constraints []constraint `json:"constraints"`
	Omissions   []omission   `json:"omissions"`
	Packing     *packing     `json:"packing"`
}

type point struct {
	ID         string `json:"id"`
	Text       string `json:"text"`
	By         string `json:"by"`
	Supersedes string `json:"supersedes"`
}

type constraint struct {
	ID    string    `json:"id"`
	Text  string    `json:"text"`
	Allow *[]string `json:"allow"`
	Max   *float64  `json:"max"`
}

type omission struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Count  int    `json:"count"`
	Tokens int    `json:"tokens"`
	Reason string `json:"reason"`
}

type packing struct {
	Tokens       int     `json:"tokens"`
	Budget       int     `json:"budget"`
	Strategy     string  `json:"strategy"`
	Completeness float64 `json:"completeness"`
}

// hopPage is a handoff with the envelope as its receiver saw it.
type hopPage struct {
	client.Handoff
	N        int
	Prompt   string
	Digest   string
	Envelope envelope
	Entries  []entry // of the envelope, for a handoff without a prompt
	Drift    *client.Hop
	Whole    string // the envelope, as JSON
}

func (v *visit) hop(w http.ResponseWriter, r *http.Request) error {
	ctx, task := r.Context(), r.PathValue("task")
	n, err := strconv.Atoi(r.PathValue("hop"))
	if err != nil || n < 1 {
		return invalid(fmt.Sprintf("%.20q is not the number of a handoff", r.PathValue("hop")), "go back to the task")
	}
	id := fmt.Sprintf("%s.h%d", task, n)
	doc, err := v.api.HandoffDocument(ctx, id)
	if err != nil {
		return err
	}
	body := hopPage{Handoff: doc.Handoff, N: n, Digest: cmp.Or(doc.Given, doc.Envelope)}
	whole := given(doc)
	switch sheet, err := v.api.Content(ctx, id, client.ContentInput{Render: true}); {
	case err == nil:
		body.Prompt, body.Digest, whole = sheet.Prompt, sheet.Digest, sheet.Envelope
	case !errors.Is(err, client.Expired): // agents get that of the newest handoff alone
		return err
	}
	if whole != nil {
		if err := json.Unmarshal(whole, &body.Envelope); err != nil {
			return err
		}
		if b, err := json.MarshalIndent(whole, "", "  "); err == nil {
			body.Whole = string(b)
		}
	}
	body.Entries = body.Envelope.entries()
	if drift, err := v.api.Drift(ctx, task); err == nil {
		if i := slices.IndexFunc(drift.Hops, func(h client.Hop) bool { return h.Handoff == id }); i >= 0 {
			body.Drift = &drift.Hops[i]
		}
	}
	return v.show(w, r, "hop", page{Title: fmt.Sprintf("Handoff %d", n), Body: body})
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

// numberOf is the number of a handoff of a task; 0: it is one of another task, to which a part was delegated.
func numberOf(task, handoff string) (n int) {
	if text, ok := strings.CutPrefix(handoff, task+".h"); ok {
		n, _ = strconv.Atoi(text)
	}
	return n
}

// comparison is two envelopes of a task side by side.
type comparison struct {
	Task string
	A, B int
	Hops []int
	Rows []difference
}

// difference is one entry of two envelopes.
type difference struct {
	Kind   string
	ID     string
	A, B   string
	Fate   string // kept, changed, added or dropped; omitted if the second lists it as left out
	Reason string // of an omission; of a change, what replaced it
}

func (v *visit) compare(w http.ResponseWriter, r *http.Request) error {
	ctx, task, q := r.Context(), r.PathValue("task"), r.URL.Query()
	trail, err := v.api.Trail(ctx, task)
	if err != nil {
		return err
	}
	c := comparison{Task: task}
	for _, d := range trail.Handoffs {
		if n := numberOf(task, d.HandoffID); n > 0 {
			c.Hops = append(c.Hops, n)
		}
	}
	if len(c.Hops) < 2 {
		return invalid("there is one handoff, or none", "compare a task that has moved at least twice")
	}
	var got [2]envelope
	for i, name := range []string{"a", "b"} {
		n, err := strconv.Atoi(cmp.Or(q.Get(name), strconv.Itoa(c.Hops[len(c.Hops)-2+i])))
		if err != nil || n < 1 {
			return invalid(fmt.Sprintf("%.20q is not the number of a handoff", q.Get(name)), "choose two handoffs of the list")
		}
		doc, err := v.api.HandoffDocument(ctx, fmt.Sprintf("%s.h%d", task, n))
		if err != nil {
			return err
		}
		if whole := given(doc); whole == nil {
			return invalid(fmt.Sprintf("handoff %d has no envelope that you may read", n), "choose another")
		} else if err := json.Unmarshal(whole, &got[i]); err != nil {
			return err
		}
		if i == 0 {
			c.A = n
		} else {
			c.B = n
		}
	}
	c.Rows = differences(got[0], got[1])
	return v.show(w, r, "compare", page{Title: fmt.Sprintf("Handoffs %d and %d", c.A, c.B), Body: c})
}

// entry is an entry of an envelope, for a comparison.
type entry struct{ Kind, ID, Text, supersedes string }

func (e envelope) entries() (all []entry) {
	for _, text := range []entry{{Kind: "intent", Text: e.Task.Intent}, {Kind: "ask", Text: e.Task.Ask}, {Kind: "state", Text: e.Task.State}, {Kind: "summary", Text: e.Summary}} {
		if text.Text != "" {
			all = append(all, text)
		}
	}
	for _, c := range e.Constraints {
		text := c.Text
		if c.Allow != nil {
			text += fmt.Sprintf(" allow %q", *c.Allow)
		}
		if c.Max != nil {
			text += fmt.Sprintf(" max %v", *c.Max)
		}
		all = append(all, entry{"constraint", c.ID, text, ""})
	}
	for _, f := range e.Facts {
		all = append(all, entry{"fact", f.ID, f.Text, f.Supersedes})
	}
	for _, d := range e.Decisions {
		all = append(all, entry{"decision", d.ID, d.Text, d.Supersedes})
	}
	return all
}

// differences compares two envelopes entry by entry, in the order of the first, then what the second adds.
func differences(a, b envelope) (rows []difference) {
	omitted := map[string]string{}
	for _, o := range b.Omissions {
		omitted[o.Kind+":"+o.ID] = o.Reason
	}
	later, replaces := map[string]string{}, map[string]entry{}
	for _, e := range b.entries() {
		later[e.Kind+":"+e.ID] = e.Text
		if e.supersedes != "" {
			replaces[e.Kind+":"+e.supersedes] = e
		}
	}
	before := map[string]bool{}
	for _, e := range a.entries() {
		key := e.Kind + ":" + e.ID
		before[key] = true
		row := difference{Kind: e.Kind, ID: e.ID, A: e.Text, Fate: "dropped"}
		if text, ok := later[key]; ok {
			row.B, row.Fate = text, "kept"
			if text != e.Text {
				row.Fate = "changed"
			}
		} else if by, ok := replaces[key]; ok {
			row.B, row.Fate, row.Reason = by.Text, "changed", "by "+by.ID
			before[by.Kind+":"+by.ID] = true
		} else if why, ok := omitted[key]; ok {
			row.Fate, row.Reason = "omitted", why
		}
		rows = append(rows, row)
	}
	for _, e := range b.entries() {
		if !before[e.Kind+":"+e.ID] {
			rows = append(rows, difference{Kind: e.Kind, ID: e.ID, B: e.Text, Fate: "added"})
		}
	}
	return rows
}
