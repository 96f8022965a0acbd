package client

import (
	"context"
	"net/http"
)

// Drift reports what a whole chain of envelopes kept and lost.
type Drift struct {
	Hops      []Hop     `json:"hops"`
	Retention Retention `json:"retention"`
}

// Hop reports what happened to a task's context on its way to one receiver.
type Hop struct {
	Number      int      `json:"hop,omitempty"` // from 1
	Parent      string   `json:"parent,omitempty"`
	Handoff     string   `json:"handoff,omitempty"` // for which the later envelope was made
	From        string   `json:"from"`
	To          []string `json:"to,omitempty"`
	IntentKept  bool     `json:"intent_kept"` // byte for byte
	Facts       Changes  `json:"facts"`
	Decisions   Changes  `json:"decisions"`
	Constraints Changes  `json:"constraints"`
	References  Changes  `json:"references"` // memory items and artifacts
	// LostTexts are the state, summary, data, open questions and history that the receiver was not given, though the sender had not removed them.
	LostTexts []Lost `json:"lost_texts,omitempty"`
	// ReplacedTexts are the state, summary, data and open questions that the sender replaced, or removed: then After is empty.
	ReplacedTexts []Change `json:"replaced_texts,omitempty"`
	// Tokens, Budget and Utilisation (0 to 1) are those of the packed envelope, if it was packed.
	Tokens      int     `json:"tokens,omitempty"`
	Budget      int     `json:"budget,omitempty"`
	Utilisation float64 `json:"utilisation,omitempty"`
}

// Changes sorts the entries of one kind by their fate.
type Changes struct {
	Kept    []string `json:"kept,omitempty"`
	Changed []Change `json:"changed,omitempty"`
	Omitted []Lost   `json:"omitted,omitempty"` // listed as omitted: it can be fetched
	Dropped []Lost   `json:"dropped,omitempty"` // missing without a listing
	Added   []string `json:"added,omitempty"`
}

// Change is one entry that was kept with another text.
type Change struct {
	ID          string `json:"id"`
	Was         string `json:"was,omitempty"` // the id before, if another one superseded it
	By          string `json:"by,omitempty"`  // the author that superseded or reworded it, the sender that replaced it, or the principals that set the changed parts of a constraint or lifted it
	How         string `json:"how"`           // reworded, superseded, tightened, loosened, lifted, revised or replaced
	Before      string `json:"before"`
	After       string `json:"after"`                  // empty if the whole constraint was lifted
	TightenedBy string `json:"tightened_by,omitempty"` // the principal whose tightening was lifted, if that alone was
}

// Lost is one entry that was not kept. If the sender had made another one of it before, How says what became of it (reworded, superseded, replaced
// or revised), By who did it, Before is the earlier text, and Was the earlier id if it was another one.
type Lost struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Why    string `json:"why,omitempty"`
	Was    string `json:"was,omitempty"`
	By     string `json:"by,omitempty"`
	How    string `json:"how,omitempty"`
	Before string `json:"before,omitempty"`
}

// Retention is the share of all entries that reached the last receiver. Overall counts the intent too.
type Retention struct {
	Overall     Kept `json:"overall"`
	Intent      Kept `json:"intent"`
	Facts       Kept `json:"facts"`
	Decisions   Kept `json:"decisions"`
	Constraints Kept `json:"constraints"`
	References  Kept `json:"references"`
}

// Kept is the retention of one kind.
type Kept struct {
	Introduced int     `json:"introduced"`
	Surviving  int     `json:"surviving"`
	Verbatim   int     `json:"verbatim"`           // of those, word for word
	Omitted    int     `json:"omitted,omitempty"`  // not surviving, but listed as omitted
	Replaced   int     `json:"replaced,omitempty"` // not surviving: another author superseded it
	Rate       float64 `json:"rate"`               // surviving by introduced, 0 to 1
}

// Drift reports what each hop of a task kept, changed, left out and dropped.
func (c *Client) Drift(ctx context.Context, task string) (Drift, error) {
	return ask[Drift](ctx, c, http.MethodGet, path("tasks", task, "drift"), nil, nil)
}
