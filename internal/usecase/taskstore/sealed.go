package taskstore

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Sealed is what a call put into an envelope for the next owner, in figures.
type Sealed struct {
	Version    string   `json:"version"`              // of the envelope's schema
	References []string `json:"references,omitempty"` // ids of the memory items and digests of the files that go along
	// Tokens is what the prompt of the receiver has, of Budget (0: no limit), by the tokenizer of the receiver; of several receivers the most. 0 if
	// they were not counted: then Uncounted says why. What changes before the receiver accepts, such as a new constraint, is not in it.
	Tokens    int    `json:"tokens,omitempty"`
	Budget    int    `json:"budget,omitempty"`
	Estimate  bool   `json:"estimate,omitempty" doc:"Tokens is an upper bound or, if each child gets an envelope of its own, about what it has."`
	Uncounted string `json:"uncounted,omitempty" doc:"Why the tokens were not counted."`
	// Completeness is references resolved by references requested, 0 to 1; of several receivers the least.
	Completeness float64 `json:"completeness"`
	// Missing names the references that were not resolved, each with the reason.
	Missing map[string]string `json:"missing,omitempty" doc:"The references that were not resolved, by id: not_found, forgotten or not_readable; and, as fact:ID and decision:ID, the facts and decisions that the same content replaced: replaced."`
	Omitted int               `json:"omitted,omitempty"` // parts that were left out for want of tokens
	// LeftOut counts, by kind, what was given with a handoff that is cold: no receiver gets it.
	LeftOut map[string]int `json:"left_out,omitempty" doc:"What was given with a handoff that is cold, by kind, such as facts: its receiver does not get it. Send it warm, or say it in the ask or the notes."`
}

var sealedEvents = ledger.NewCodec(event.Sealed{})

// sealedIn is the envelope that a decision sealed; nil if it sealed none. What was packed by a decision that sealed nothing is of others.
func sealedIn(list []ledger.Event) *Sealed {
	var out *Sealed
	packed, parts := false, false
	uncounted := "no receiver is known yet"
	var request json.RawMessage
	for _, e := range list {
		switch e.Name {
		case event.Sealed{}.EventName():
			of, err := sealedEvents.Decode(e)
			if err != nil {
				continue
			}
			if doc, err := contentsOf(of.Bytes); err == nil && doc.Version != "" {
				out = doc.sum()
				out.measure(of.Measured)
			}
		case event.HandoffRequested{}.EventName():
			uncounted, request = tooLong, e.Data
		case event.Spawned{}.EventName():
			uncounted, request, parts = tooLong, nil, true
		case event.Rendered{}.EventName():
			var of event.Rendered
			if out == nil || json.Unmarshal(e.Data, &of) != nil {
				continue
			}
			if !packed || of.Tokens > out.Tokens {
				out.Tokens, out.Budget, out.Estimate = of.Tokens, of.Budget, of.Estimate
			}
			if !packed || of.Completeness < out.Completeness {
				out.Completeness = of.Completeness
			}
			out.Omitted, packed = max(out.Omitted, of.Omitted), true
		}
	}
	switch {
	case out == nil:
	case out.Tokens == 0 && forPeople(request):
		out.Uncounted = "people read as much of it as they want"
	case out.Tokens == 0:
		out.Uncounted = uncounted
	case parts:
		out.Estimate = true
	}
	return out
}

// tooLong says why tokens were not counted although the receiver is an agent.
const tooLong = "the receiver has no limit, and the envelope is long"

// forPeople reports whether a handoff asks people; nil is no handoff.
func forPeople(request json.RawMessage) bool {
	if request == nil {
		return false
	}
	var of event.HandoffRequested
	err := json.Unmarshal(request, &of)
	return err == nil && len(of.Candidates) > 0 && of.Candidates[0].IsDesk()
}

// measure adds what an envelope takes; nil if that was not counted.
func (e *Sealed) measure(m *event.Measured) {
	if e != nil && m != nil {
		e.Tokens, e.Budget, e.Estimate, e.Completeness, e.Omitted = m.Tokens, m.Budget, m.Estimate, m.Completeness, m.Omitted
	}
}

// contents is what is summed up of an envelope.
type contents struct {
	Version   string
	Memory    []struct{ ID string }
	Artifacts []struct{ Digest string }
	Gaps      []struct{ Kind, ID, Reason string }
	Packing   struct{ Tokens, Budget int }
	Handoff   struct{ Kind event.Kind }
	Dropped   []struct {
		Kind  string
		Count int
	}
}

// contentsOf reads what is summed up of an envelope, as it was sealed.
func contentsOf(doc json.RawMessage) (c contents, err error) {
	var handoff []byte
	members(doc, func(name, value []byte) {
		if string(name) == "handoff" {
			handoff = value
		} else if to := c.member(string(name)); to != nil {
			err = errors.Join(err, json.Unmarshal(value, to))
		}
	})
	if len(c.Dropped) > 0 && handoff != nil { // else it has nothing that is summed up
		err = errors.Join(err, json.Unmarshal(handoff, &c.Handoff))
	}
	return c, err
}

// member is where a member of an envelope is read to; nil if it is not summed up.
func (doc *contents) member(name string) any {
	switch name {
	case "version":
		return &doc.Version
	case "memory":
		return &doc.Memory
	case "artifacts":
		return &doc.Artifacts
	case "gaps":
		return &doc.Gaps
	case "packing":
		return &doc.Packing
	case "dropped":
		return &doc.Dropped
	}
	return nil
}

func (doc *contents) sum() *Sealed {
	out := &Sealed{Version: doc.Version, Tokens: doc.Packing.Tokens, Budget: doc.Packing.Budget, Completeness: 1}
	for _, m := range doc.Memory {
		out.References = append(out.References, m.ID)
	}
	for _, a := range doc.Artifacts {
		out.References = append(out.References, a.Digest)
	}
	requested := len(out.References)
	for _, g := range doc.Gaps {
		id := g.ID
		if g.Kind == "fact" || g.Kind == "decision" { // replaced: no reference
			id = g.Kind + ":" + id
		} else {
			requested++
		}
		if out.Missing == nil {
			out.Missing = map[string]string{}
		}
		out.Missing[id] = g.Reason
	}
	if requested > 0 {
		out.Completeness = float64(len(out.References)) / float64(requested)
	}
	for _, d := range doc.Dropped {
		if kind, sent := strings.CutPrefix(d.Kind, "sent_"); sent && doc.Handoff.Kind == event.Cold {
			if out.LeftOut == nil {
				out.LeftOut = map[string]int{}
			}
			out.LeftOut[kind] += d.Count
		}
	}
	return out
}
