package envelope

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// MemoryRef refers to one memory item that the receiver can fetch; it may carry the text. Since version 1.1.
type MemoryRef struct {
	ID string `json:"id"`
	// Version and Digest are those of the item when the envelope was sealed, so that a later change is visible; zero if
	// they are not known.
	Version int    `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
	Title   string `json:"title,omitempty"`
	// Author is the principal that wrote it.
	Author string `json:"author,omitempty"`
	// PinnedBy is the principal whose pin counts, if that is not the author. Since version 1.4.
	PinnedBy string `json:"pinned_by,omitempty"`
	// Text is the text of the item; empty if it must be fetched.
	Text string `json:"text,omitempty"`
	// Tokens is the number of tokens of the text, by the receiver's tokenizer; 0 if they were not counted.
	Tokens int `json:"tokens,omitempty"`

	Weight
	Extra Extra `json:"-"`
}

// Vital is the importance from which a part comes before the state of the work, and is named where it is left out.
const Vital = 0.9

// Weight says how important a part is when the token budget is short. Since version 1.1.
type Weight struct {
	// Pinned parts come before all others.
	Pinned bool `json:"pinned,omitempty"`
	// Importance is 0 to 1; 0 means not given.
	Importance float64 `json:"importance,omitempty"`
}

// Artifact refers to a file or patch by its content. Since version 1.1.
type Artifact struct {
	// Digest is "sha256:" and the hash of the content.
	Digest string `json:"digest"`
	Name   string `json:"name,omitempty"`
	// MediaType is like "text/x-diff".
	MediaType string `json:"media_type,omitempty"`
	// Bytes is the length of the content.
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

// Omission is one part that the envelope omits, or several of the same kind. Since version 1.1.
type Omission struct {
	Kind PartKind `json:"kind"`
	// ID is the id of the part, or the position of a step in the history from 1. It is empty if there is only one part of
	// the kind, or Count is set.
	ID string `json:"id,omitempty"`
	// Count is the number of omitted parts if it is not 1.
	Count int `json:"count,omitempty"`
	// Tokens is the number of tokens of the part, by the receiver's tokenizer; 0 if they were not counted.
	Tokens int            `json:"tokens,omitempty"`
	Reason OmissionReason `json:"reason"`
	Pinned bool           `json:"pinned,omitempty"`
	// Important reports an importance of 0.9 or more, of a part that is not pinned. Since version 1.4.
	Important bool `json:"important,omitempty"`
	// By is the author of a pinned or important fact or decision that replaced words of another, who is WasBy. Since version 1.4.
	By    string `json:"by,omitempty"`
	WasBy string `json:"was_by,omitempty"`
	Extra Extra  `json:"-"`
}

// Parts is the number of parts that the omission stands for.
func (o Omission) Parts() int { return max(1, o.Count) }

// Gap is a reference of the sender that could not be resolved. Since version 1.1.
type Gap struct {
	Kind   PartKind  `json:"kind"`
	ID     string    `json:"id"`
	Reason GapReason `json:"reason"`

	Extra Extra `json:"-"`
}

// Dropped counts entries of one kind that the envelope does not have for a bound, or because the handoff is cold. Since version 1.4.
type Dropped struct {
	Kind  DroppedKind `json:"kind"`
	Count int         `json:"count"`
	// Task is the task whose record has them.
	Task string `json:"task"`

	Extra Extra `json:"-"`
}

// Drop counts n entries of a kind that the record of a task has and the document does not.
func (e *Envelope) Drop(kind DroppedKind, n int, task string) {
	if n <= 0 {
		return
	}
	*e = e.Current()
	e.Dropped = slices.Clone(e.Dropped)
	at := slices.IndexFunc(e.Dropped, func(d Dropped) bool { return d.Kind == kind && d.Task == task })
	if at < 0 && len(e.Dropped) == MaxDropped { // of the tasks that this one is a part of
		at = slices.IndexFunc(e.Dropped, func(d Dropped) bool { return d.Task != e.Handoff.TaskID })
		e.Dropped[at].Count += n
		return
	}
	if at < 0 {
		e.Dropped = append(e.Dropped, Dropped{Kind: kind, Task: task})
		at = len(e.Dropped) - 1
	}
	e.Dropped[at].Count = min(e.Dropped[at].Count+n, maxCount)
}

// Packing says how the envelope was fitted to its receiver. Since version 1.1.
type Packing struct {
	Strategy event.Strategy `json:"strategy"`
	// Budget is the greatest number of tokens that the rendered prompt may have, 0 for no limit. Tokens is the number that
	// it has.
	Budget int `json:"budget,omitempty"`
	Tokens int `json:"tokens"`
	// Tokenizer is the name of the tokenizer that counted. Estimate reports whether its counts are upper bounds.
	Tokenizer string `json:"tokenizer"`
	Estimate  bool   `json:"estimate,omitempty"`
	// Utilisation is Tokens divided by Budget, 0 to 1; 0 without a limit.
	Utilisation float64 `json:"utilisation,omitempty"`
	// Completeness is the share of requested references that were resolved, 0 to 1; 1 if none were requested.
	Completeness float64 `json:"completeness"`
	// Listing is the form in which the prompt lists the omissions; empty means [ListEach].
	Listing Listing `json:"listing,omitempty"`

	Extra Extra `json:"-"`
}

// IsZero reports whether the envelope was not packed; the document then omits the part.
func (p Packing) IsZero() bool {
	return p.Strategy == "" && p.Budget == 0 && p.Tokens == 0 && p.Tokenizer == "" && !p.Estimate &&
		p.Utilisation == 0 && p.Completeness == 0 && p.Listing == "" && len(p.Extra) == 0
}
