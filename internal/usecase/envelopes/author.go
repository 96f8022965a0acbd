package envelopes

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// What one author can take of a task's envelopes. Of the entries of a list, and of the bytes of facts and decisions, that is at most half of what those of
// others leave: so there is always room for somebody else.

const (
	maxPointBytes = 512 << 10 // of the facts and decisions of all authors, with their reasoning
	// What an agent that is not the requester may pin: prompts keep it before what others find important.
	maxPins     = 32
	maxPinBytes = 2 << 10
)

// author is the principal whose words the content is, as [envelope.Item] has it: the caller, or the source if the server itself calls.
func author(by caller.Caller, t task.Task) string {
	if by.IsSystem() {
		return event.Bare(t.Source())
	}
	return by.Short()
}

// rules reports whether an author is the requester of a task, or no agent: its pins come before those of others.
func rules(by string, t task.Task) bool {
	return by == event.Bare(t.Requester) || strings.Contains(by, "/")
}

// taken is what the facts and decisions of an envelope take: of one author, and of the others.
type taken struct {
	facts, decisions, bytes, pins, pinned int // pinned: bytes of texts that are pinned, but not as the requester's or an operator's
}

func takenBy(doc *envelope.Envelope, by string) (own, others taken) {
	for at, list := range [][]envelope.Item{doc.KeyFacts, doc.Decisions} {
		for i := range list {
			item, of := &list[i], &others
			if item.By == by {
				of = &own
			}
			if at == 0 {
				of.facts++
			} else {
				of.decisions++
			}
			of.bytes += len(item.Text) + len(item.Reasoning)
			others.bytes += len(item.Original)
			for _, id := range item.Lineage {
				of.bytes += len(id)
			}
			if item.Pinned && !item.Ruled {
				of.pins++
				of.pinned += len(item.Text)
			}
		}
	}
	return own, others
}

// checkShare refuses (too_large) what an author adds beyond its share. What an older envelope has stays.
func checkShare(before, after *envelope.Envelope, by string) error {
	was, _ := takenBy(before, by)
	own, others := takenBy(after, by)
	half := func(what, field string, was, own, others, most int) error {
		if share := (most - others) / 2; own > was && own > share {
			return refusal.New(refusal.TooLarge, fmt.Sprintf("your share is %d: half of what others leave of %d; replace what is outdated (supersedes), or [put details in a file](artifact put)", max(share, 0), most),
				"%s would have %d %s in this task, beside %d of others", by, own, what, others).With("field", field).With("limit", max(share, 0))
		}
		return nil
	}
	pins := func(what string, was, own, most int) error {
		if own > was && own > most {
			return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d %s: pin less, or give it an importance", most, what),
				"%s would have %d %s pinned in this task", by, own, what).With("field", "pinned").With("limit", most)
		}
		return nil
	}
	return cmp.Or(
		half("facts", "facts", was.facts, own.facts, others.facts, envelope.MaxPoints),
		half("decisions", "decisions", was.decisions, own.decisions, others.decisions, envelope.MaxPoints),
		half("bytes of facts and decisions", "facts", was.bytes, own.bytes, others.bytes, maxPointBytes),
		pins("facts and decisions", was.pins, own.pins, maxPins),
		pins("bytes of facts and decisions", was.pinned, own.pinned, maxPinBytes),
	)
}
