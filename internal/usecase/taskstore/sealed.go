package taskstore

import (
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Sealed is what a call put into an envelope for the next owner, in figures.
type Sealed struct {
	Version    string   `json:"version"`              // of the envelope's schema
	References []string `json:"references,omitempty"` // ids of the memory items and digests of the files that go along
	// Tokens is what the prompt of the receiver has, of Budget (0: no limit); of several receivers the most. 0 if they were not counted:
	// without a limit, or before an offer is made.
	Tokens int `json:"tokens,omitempty"`
	Budget int `json:"budget,omitempty"`
	// Completeness is references resolved by references requested, 0 to 1; of several receivers the least.
	Completeness float64 `json:"completeness"`
	Omitted      int     `json:"omitted,omitempty"` // parts that were left out for want of tokens
}

// sealedIn is the envelope that a decision sealed; nil if it sealed none. What was packed by a decision that sealed nothing is of others.
func sealedIn(list []ledger.Event) *Sealed {
	var out *Sealed
	packed := false
	for _, e := range list {
		switch e.Name {
		case event.Sealed{}.EventName():
			var of event.Sealed
			if json.Unmarshal(e.Data, &of) == nil && len(of.Bytes) > 0 {
				out = sealedOf(of.Bytes)
			}
		case event.Rendered{}.EventName():
			var of event.Rendered
			if out == nil || json.Unmarshal(e.Data, &of) != nil {
				continue
			}
			if !packed || of.Tokens > out.Tokens {
				out.Tokens, out.Budget = of.Tokens, of.Budget
			}
			if !packed || of.Completeness < out.Completeness {
				out.Completeness = of.Completeness
			}
			out.Omitted, packed = max(out.Omitted, of.Omitted), true
		}
	}
	return out
}

// sealedOf sums up the bytes of an envelope; nil if they are none.
func sealedOf(bytes json.RawMessage) *Sealed {
	var doc struct {
		Version   string                    `json:"version"`
		Memory    []struct{ ID string }     `json:"memory"`
		Artifacts []struct{ Digest string } `json:"artifacts"`
		Gaps      []struct{ ID string }     `json:"gaps"`
		Packing   struct {
			Tokens int `json:"tokens"`
			Budget int `json:"budget"`
		} `json:"packing"`
	}
	if json.Unmarshal(bytes, &doc) != nil {
		return nil
	}
	out := &Sealed{Version: doc.Version, Tokens: doc.Packing.Tokens, Budget: doc.Packing.Budget, Completeness: 1}
	for _, m := range doc.Memory {
		out.References = append(out.References, m.ID)
	}
	for _, a := range doc.Artifacts {
		out.References = append(out.References, a.Digest)
	}
	if all := len(out.References) + len(doc.Gaps); all > 0 {
		out.Completeness = float64(len(out.References)) / float64(all)
	}
	return out
}
