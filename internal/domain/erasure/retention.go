package erasure

import "time"

// Retention is a rule of how long content is kept: of every task, conversation and memory item, or of those of a kind or with a tag.
type Retention struct {
	Kind  Kind   // Task, Conversation or Memory; "": each of them
	Tag   string // of the task, of an ancestor of it, or of the task that an item or a conversation belongs to; "": any
	Least time.Duration
	Most  time.Duration // 0: for ever
}

// Retentions are the rules of a workspace.
type Retentions []Retention

// Of returns how long content is kept that some subjects name: at least and, unless it is 0, at most. Of the rules that apply the longest Least and
// the shortest Most count.
func (rs Retentions) Of(kind Kind, names map[Subject]bool) (least, most time.Duration) {
	for _, r := range rs {
		if r.Kind != "" && r.Kind != kind || r.Tag != "" && !names[Subject{Tag, r.Tag}] {
			continue
		}
		least = max(least, r.Least)
		if most == 0 || r.Most > 0 && r.Most < most {
			most = r.Most
		}
	}
	return least, most
}

// Kept returns the time until which content is kept in any case, and that from which on it is erased; a zero due: never. Keeping it comes first.
func (rs Retentions) Kept(kind Kind, names map[Subject]bool, since time.Time) (until, due time.Time) {
	least, most := rs.Of(kind, names)
	if least > 0 {
		until = since.Add(least)
	}
	if most > 0 {
		due = since.Add(max(least, most))
	}
	return until, due
}
