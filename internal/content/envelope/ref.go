package envelope

import "time"

// MemoryRef is one memory item: a reference that the receiver can fetch by, and its text if it came along. All since
// version 1.1.
type MemoryRef struct {
	ID string `json:"id"`
	// Version is the item's when this was sealed; 0 if it has none. Digest is that of the item then, so that a later
	// change is visible; empty if it is not known.
	Version int    `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Title   string `json:"title,omitempty"`
	// Author is who wrote it.
	Author string `json:"author,omitempty"`
	// Text is the item itself; empty in a lazy reference.
	Text string `json:"text,omitempty"`
	// Tokens is what the text takes of a prompt, as the receiver counts; 0 if nobody counted.
	Tokens int `json:"tokens,omitempty"`

	Weight
	Extra Extra `json:"-"`
}

// Weight is how much a part matters when a budget is short. Since version 1.1.
type Weight struct {
	// Pinned parts come before all others.
	Pinned bool `json:"pinned,omitempty"`
	// Importance is 0 to 1; 0 means that nobody said.
	Importance float64 `json:"importance,omitempty"`
}

// Artifact refers to a file or patch by its content. Since version 1.1.
type Artifact struct {
	// Digest is "sha256:" and the hash of the content.
	Digest string `json:"digest"`
	Name   string `json:"name,omitempty"`
	// MediaType is like "text/x-diff".
	MediaType string `json:"media_type,omitempty"`
	// Bytes is the content's length.
	Bytes int `json:"bytes,omitempty"`

	Weight
	Extra Extra `json:"-"`
}

// Turn is one message of a conversation. Since version 1.1.
type Turn struct {
	Time  time.Time `json:"time,omitzero"`
	Agent string    `json:"agent"`
	// Role is like "user" or "assistant"; empty for the agent itself.
	Role string `json:"role,omitempty"`
	Text string `json:"text"`

	Extra Extra `json:"-"`
}

// Omission is one part that is not in this envelope, or several of a sort. Since version 1.1.
type Omission struct {
	Kind PartKind `json:"kind"`
	// ID is the part's, a step's place in the history from 1, or empty where there is one of its kind or Count is set.
	ID string `json:"id,omitempty"`
	// Count is the number of parts if it is not 1.
	Count int `json:"count,omitempty"`
	// Tokens is what the part would have taken, as the receiver counts; 0 if nobody counted.
	Tokens int            `json:"tokens,omitempty"`
	Reason OmissionReason `json:"reason"`
	Pinned bool           `json:"pinned,omitempty"`

	Extra Extra `json:"-"`
}

// Parts is the number of parts that the omission stands for.
func (o Omission) Parts() int { return max(1, o.Count) }

// Gap is a part that was asked for and could not be had. Since version 1.1.
type Gap struct {
	Kind   PartKind  `json:"kind"`
	ID     string    `json:"id"`
	Reason GapReason `json:"reason"`

	Extra Extra `json:"-"`
}

// Packing says how the envelope was fitted to its receiver. Since version 1.1.
type Packing struct {
	Strategy Strategy `json:"strategy"`
	// Budget is the most tokens that the rendered prompt may have; 0 if there was no limit. Tokens is what it has.
	Budget int `json:"budget,omitempty"`
	Tokens int `json:"tokens"`
	// Tokenizer is what counted, and Estimate whether its counts are upper bounds.
	Tokenizer string `json:"tokenizer"`
	Estimate  bool   `json:"estimate,omitempty"`
	// Utilisation is tokens by budget, 0 to 1; 0 without a limit.
	Utilisation float64 `json:"utilisation,omitempty"`
	// Completeness is references resolved by references requested, 0 to 1; 1 if none were.
	Completeness float64 `json:"completeness"`
	// Listing is how the prompt shows what was left out; empty means [ListEach].
	Listing Listing `json:"listing,omitempty"`

	Extra Extra `json:"-"`
}

// IsZero reports whether the envelope was not packed; the part is then left out of the document.
func (p Packing) IsZero() bool {
	return p.Strategy == "" && p.Budget == 0 && p.Tokens == 0 && p.Tokenizer == "" && !p.Estimate &&
		p.Utilisation == 0 && p.Completeness == 0 && p.Listing == "" && len(p.Extra) == 0
}
