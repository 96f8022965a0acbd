package envelopes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/event/idform"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/usecase/envelopestore"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// Content is what a sender puts into an envelope. What the task knows already (intent, constraints, history,
// permissions) comes along by itself; lists are added to those of the envelope before, by id.
type Content struct {
	Ask        string          `json:"ask,omitempty" doc:"What the receiver must accomplish. From an agent that is not the requester of the task, at most 4,000 bytes: no prompt omits it."`
	State      string          `json:"current_state,omitempty" doc:"Where the work stands now."`
	Summary    string          `json:"conversation_summary,omitempty" maxLength:"4000" doc:"What was said so far in short: at most 4,000 bytes. It replaces the summary before; what must last is a fact or a decision."`
	Facts      []Point         `json:"key_facts,omitempty" doc:"What is known. Facts of earlier envelopes stay unless superseded."`
	Decisions  []Point         `json:"decisions,omitempty" doc:"What was decided."`
	Questions  []string        `json:"open_questions,omitzero" doc:"What is still open, at most 4,000 bytes together; replaces the list of the envelope before, which an empty list closes."`
	Steps      []Step          `json:"steps,omitempty" doc:"What the sender did; added to the history. Calls of tools are left out of what a receiver gets unless it asks for everything."`
	Data       json.RawMessage `json:"data,omitempty" doc:"Task context, any JSON; replaces that of the envelope before."`
	Confidence *float64        `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"How sure the sender is of its work."`
	Notes      string          `json:"notes,omitempty" doc:"Anything else for the receiver."`
	ExpiresAt  time.Time       `json:"expires_at,omitzero" doc:"When what this says is stale. It is not refused then, only marked."`
	Memory     []MemoryAsk     `json:"memory,omitempty" maxItems:"100" doc:"Memory items that go along; those of the envelope before stay."`
	Recent     int             `json:"recent,omitempty" minimum:"0" maximum:"50" doc:"So many recent memory items go along too: those that fit the ask and the intent best."`
	Artifacts  []Artifact      `json:"artifacts,omitempty" maxItems:"200" doc:"Files that go along; those of the envelope before stay."`

	// Unresolved are memory items of another system, which nobody here can resolve.
	Unresolved []string `json:"-"`
	// Again is the digest of the envelope of a handoff of the task that is asked for again, as it was asked for; empty if there is none.
	// What the content says itself comes before what that says.
	Again string `json:"-"`
	// NotesBy is the author of the notes of Again; empty: who asks for the handoff.
	NotesBy string `json:"-"`
	// Base is an envelope from elsewhere that a task's first one starts from; nil if there is none.
	Base json.RawMessage `json:"-"`
}

// MemoryAsk names a memory item that is to go along.
type MemoryAsk struct {
	ID      string `json:"id"`
	Version int    `json:"version,omitempty" minimum:"0" doc:"0: the newest."`
}

// Artifact refers to a file by the digest of its content.
type Artifact struct {
	Digest    string `json:"digest"`
	Name      string `json:"name,omitempty"`
	MediaType string `json:"media_type,omitempty" doc:"Such as text/x-diff."`
}

// Point is one fact or decision. Without an id it gets one.
type Point struct {
	ID         string  `json:"id,omitempty" doc:"At most 64 letters, digits, dots, dashes and underscores, first a letter or digit; not like the id of a task or a memory item, and no word that names who speaks, such as by or operator. An id that the task has already may be otherwise."`
	Text       string  `json:"text"`
	Supersedes string  `json:"supersedes,omitempty" doc:"Id of the earlier point that this one replaces."`
	Reasoning  string  `json:"reasoning,omitempty" doc:"What led to it. Left out of what a receiver gets unless it asks for everything."`
	Pinned     bool    `json:"pinned,omitempty" doc:"Comes before what is not pinned when a token budget is short. A pin stays, also when the point is reworded or superseded."`
	Importance float64 `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"How much it matters when a token budget is short; 0: nobody said. From 0.9 it is vital. What the requester and operators find vital comes first; of what an agent does, at most 32 points of 1024 tokens count as vital in one prompt, each of at most 256, and others as if nobody had said."`
}

// Step is one thing that the sender did.
type Step struct {
	Action string `json:"action" doc:"In a word or two, such as reproduced or called."`
	Detail string `json:"detail,omitempty"`
	Tool   string `json:"tool,omitempty" doc:"The tool that was called, if the step is such a call."`
}

// IsZero reports whether the sender adds nothing.
func (c Content) IsZero() bool {
	return c.Ask == "" && c.State == "" && c.Summary == "" && len(c.Facts) == 0 && len(c.Decisions) == 0 &&
		c.Questions == nil && len(c.Steps) == 0 && len(c.Data) == 0 && c.Confidence == nil && c.Notes == "" &&
		c.ExpiresAt.IsZero() && len(c.Memory) == 0 && c.Recent == 0 && len(c.Artifacts) == 0 && len(c.Unresolved) == 0 && c.Again == "" && len(c.Base) == 0
}

// Size is about how many bytes the sender adds.
func (c Content) Size() int {
	n := len(c.Ask) + len(c.State) + len(c.Summary) + len(c.Data) + len(c.Notes) + len(c.Base)
	for _, list := range [][]Point{c.Facts, c.Decisions} {
		for _, p := range list {
			n += len(p.Text) + len(p.Reasoning)
		}
	}
	for _, s := range c.Steps {
		n += len(s.Action) + len(s.Detail)
	}
	return n
}

// HasWork reports whether the content brings something that makes a revisit work rather than a loop.
func (c Content) HasWork() bool { return len(c.Decisions) > 0 }

// The most that a sender may name at once. They are what the descriptions of [Content] say.
const (
	maxMemoryAsked = 100
	maxFilesAsked  = envelope.MaxArtifacts
	maxSummary     = memories.MaxSummary
	maxAsk         = 4000 // bytes, of an agent that is not the requester
	maxQuestions   = 4000 // bytes of all: no packing omits them, and nobody is to make a task too large for its next owners
)

// Check refuses content that no envelope could carry, before a task is made of it.
func (c Content) Check() error {
	if err := c.checkRefs(); err != nil {
		return err
	}
	if n := len(c.Summary); n > maxSummary {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d bytes; state what must last as facts and decisions, and the rest in the notes", maxSummary),
			"the conversation's summary has %d bytes", n).With("field", "conversation_summary")
	}
	questions := 0
	for _, q := range c.Questions {
		questions += len(q)
	}
	if questions > maxQuestions {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d bytes together; every receiver reads all of them, so state what can be omitted as facts", maxQuestions),
			"the %d open questions have %d bytes", len(c.Questions), questions).With("field", "open_questions")
	}
	if len(c.Data) > event.MaxData {
		return event.TooLarge("the data", len(c.Data), event.MaxData)
	}
	if len(c.Data) == 0 {
		return nil
	}
	return envelope.CheckData(c.Data)
}

func (c Content) checkRefs() error {
	asked := maxMemoryAsked
	if len(c.Base) > 0 {
		asked = memories.MaxRequested // those of an envelope from elsewhere
	}
	switch {
	case len(c.Memory) > asked:
		return refusal.In("memory", event.TooMany("memory items", len(c.Memory), asked))
	case len(c.Artifacts) > maxFilesAsked:
		return refusal.In("artifacts", event.TooMany("artifacts", len(c.Artifacts), maxFilesAsked))
	case len(c.Steps) > envelope.MaxHistory:
		return refusal.In("steps", event.TooMany("steps", len(c.Steps), envelope.MaxHistory))
	case c.Recent < 0 || c.Recent > memories.MaxRecent:
		return refusal.New(refusal.Invalid, fmt.Sprintf("use 0 to %d", memories.MaxRecent), "%d recent items are out of range", c.Recent).With("field", "recent")
	}
	for _, m := range c.Memory {
		if err := memory.CheckID(m.ID); err != nil {
			return refusal.In("memory", err)
		}
		if m.Version < 0 {
			return refusal.New(refusal.Invalid, "versions are numbered from 1; 0 is the newest", "memory item %s has no version %d", m.ID, m.Version).With("field", "memory")
		}
	}
	return nil
}

// checkAsk refuses (too_large) an ask by which an agent would make a task too large for its next owners: no packing omits it, and those that
// take the task over or replay it have none of their own.
func (c Content) checkAsk(rules bool) error {
	if n := len(c.Ask); n > maxAsk && !rules {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d bytes; every receiver reads all of it, so state what can be omitted as facts, data or notes", maxAsk),
			"the ask has %d bytes", n).With("field", "ask")
	}
	return nil
}

// checkIDs refuses (invalid) ids of facts and decisions that are made now and could be taken for others: see [idform.CheckPoint] and [event.CheckCase]. Those that the
// envelope has stay as they are. It refuses those that replace what is not there, those that an earlier envelope of the task had for something else, and new words for one
// that the same content replaces before: they would be nowhere.
func (c Content) checkIDs(doc envelope.Envelope, had envelopestore.Points, by string) error {
	for _, l := range []struct {
		what, field string
		kind        envelope.PartKind
		have        []envelope.Item
		add         []Point
	}{{"a fact", "key_facts", envelope.PartFact, doc.KeyFacts, c.Facts}, {"a decision", "decisions", envelope.PartDecision, doc.Decisions, c.Decisions}} {
		ids := make([]string, 0, len(l.have)+len(l.add))
		for _, i := range l.have {
			ids = append(ids, i.ID)
		}
		again := make(map[string]bool, len(l.add))
		for _, p := range l.add {
			if p.ID != "" && again[p.ID] {
				return refusal.New(refusal.Invalid, "say it once, or give each an id of its own", "%s with the id %q is there twice", l.what, refusal.Clip(p.ID, 100)).With("field", l.field)
			}
			again[p.ID] = true
		}
		gone := make(map[string]bool, len(l.add))
		for _, p := range l.add {
			if gone[p.ID] && slices.ContainsFunc(l.have, func(i envelope.Item) bool { return i.ID == p.ID && i.Text != p.Text }) {
				return refusal.New(refusal.Invalid, "omit it, or give its words another id", "%s %q is replaced by another one of the same content", l.what, p.ID).With("field", l.field)
			}
			if p.Supersedes != "" && p.Supersedes != p.ID && !slices.ContainsFunc(l.have, p.says) {
				gone[p.Supersedes] = true
			}
			if err := cmp.Or(checkReplaced(l.what, l.field, p, ids, l.have, again), checkTaken(l.what, l.field, p, ids, l.have, again)); err != nil {
				return err
			}
			if p.ID == "" || slices.Contains(ids, p.ID) {
				continue
			}
			if err := cmp.Or(idform.CheckPoint(l.what, p.ID), event.CheckCase(l.what, p.ID, ids), checkHad(l.what, l.kind, p, l.have, had, by)); err != nil {
				return refusal.In(l.field, err)
			}
			ids = append(ids, p.ID)
		}
	}
	return nil
}

// checkTaken refuses (invalid) an id that stands for something else: that of one that was replaced, since the reader would take the new words for the old ones; and
// that of one that is there, for words that also replace another: the reader would be told of one of the two alone.
func checkTaken(what, field string, p Point, ids []string, have []envelope.Item, again map[string]bool) error {
	for _, i := range have {
		switch {
		case i.StandsFor(p.ID) && !slices.Contains(ids, p.ID) && !again[i.ID]:
			return refusal.New(refusal.Invalid, fmt.Sprintf("use another id, or replace %s", i.ID), "%s %q was replaced by %s", what, p.ID, i.ID).With("field", field)
		case i.ID == p.ID && slices.Contains(ids, p.Supersedes) && p.Supersedes != p.ID && !i.StandsFor(p.Supersedes):
			return refusal.New(refusal.Invalid, "give the new words an id of their own, or omit supersedes", "%s %q is there: it cannot take the place of %q, too", what, p.ID, p.Supersedes).With("field", field)
		}
	}
	return nil
}

// checkHad refuses (invalid) an id that an earlier envelope of the task had and this one has not, as after a cold handoff: who read that would take the new
// words for the old ones. Its author can say it again as it was. So can anybody say one that was replaced, with what replaced it; that adds nothing, so it has no other words.
func checkHad(what string, kind envelope.PartKind, p Point, have []envelope.Item, had envelopestore.Points, by string) error {
	at := slices.IndexFunc(have, func(i envelope.Item) bool { return i.StandsFor(p.ID) })
	switch {
	case at >= 0 && had.Has(kind, p.ID) && !had.Says(kind, p.ID, p.Text):
		return refusal.New(refusal.Invalid, "use another id, or omit it", "%s %q was replaced by %s", what, p.ID, have[at].ID)
	case at >= 0 || had.Same(kind, p.ID, by, p.Text):
		return nil
	}
	if id, is := had.Alike(kind, p.ID); is {
		return refusal.New(refusal.Invalid, "use another id, or omit it", "%s %q was in an earlier envelope of this task: its id stands for that", what, id)
	}
	return nil
}

// mostIDs is how many ids a refusal names.
const mostIDs = 50

// checkReplaced refuses (invalid) a fact or decision that replaces one that is not there: the sender would think that the old one is gone. What is said again, with what
// it replaced, may be.
func checkReplaced(what, field string, p Point, ids []string, have []envelope.Item, again map[string]bool) error {
	if p.Supersedes == "" || slices.Contains(ids, p.Supersedes) {
		return nil
	}
	noun := what[strings.IndexByte(what, ' ')+1:]
	hint := fmt.Sprintf("omit supersedes: there is no %s yet", noun)
	if len(ids) > 0 {
		hint = "name one of these: " + strings.Join(ids[:min(len(ids), mostIDs)], ", ")
		if len(ids) > mostIDs {
			hint += fmt.Sprintf(" and %d others", len(ids)-mostIDs)
		}
	}
	for _, i := range have {
		switch {
		case !i.StandsFor(p.Supersedes):
		case i.ID == p.ID, i.StandsFor(p.ID) && again[i.ID]:
			return nil
		default:
			hint = fmt.Sprintf("%s replaced it: replace that, or ", i.ID) + hint
		}
	}
	return refusal.New(refusal.Invalid, hint, "%s cannot replace %q: no %s has this id", what, refusal.Clip(p.Supersedes, 100), noun).With("field", field)
}

// addTo adds the content to an envelope. Its facts and decisions are by an author, whose pins may be rules; had are those that envelopes of the task had.
func (c Content) addTo(doc *envelope.Envelope, had envelopestore.Points, by string, rules bool) {
	set := func(field, author *string, v string) {
		if v != "" {
			*field, *author = v, by
		}
	}
	set(&doc.Task.Ask, &doc.TextBy.Ask, c.Ask)
	set(&doc.Task.State, &doc.TextBy.State, c.State)
	set(&doc.ConversationSummary, &doc.TextBy.Summary, c.Summary)
	doc.ConversationSummary = inShort(doc.ConversationSummary) // that of an older record, or of another server
	more := func(kind envelope.PartKind, list *[]envelope.Item, add []Point) {
		before := *list
		add = numbered(before, add, kind, had)
		*list = points(before, add, by, rules)
		for _, g := range unheard(kind, before, *list, add, had) {
			if !slices.ContainsFunc(doc.Gaps, func(is envelope.Gap) bool { return is.Kind == g.Kind && is.ID == g.ID }) {
				doc.Gaps = append(doc.Gaps, g)
			}
		}
	}
	more(envelope.PartFact, &doc.KeyFacts, c.Facts)
	more(envelope.PartDecision, &doc.Decisions, c.Decisions)
	if c.Questions != nil {
		doc.OpenQuestions, doc.TextBy.Questions = c.Questions, by
	}
	if len(c.Data) > 0 {
		doc.Task.Data, doc.TextBy.Data = c.Data, by
	}
	doc.Confidence = c.Confidence
	if !c.ExpiresAt.IsZero() || !doc.ExpiresAt.After(doc.CreatedAt) {
		doc.ExpiresAt = c.ExpiresAt // what was said before may be stale by now; who says it again answers for it
	}
}

// inShort is the beginning of a summary that is too long, with a mark that it goes on.
func inShort(summary string) string {
	const mark = " […]"
	if len(summary) <= maxSummary {
		return summary
	}
	return refusal.Clip(summary, maxSummary-len(mark)) + mark
}

// numbered is what is added, all with ids: those that the sender left out are the letter of the kind and a number that neither the list nor an earlier
// envelope has had, since readers know the ids of both.
func numbered(list []envelope.Item, add []Point, kind envelope.PartKind, had envelopestore.Points) []Point {
	add = slices.Clone(add)
	used := make(map[string]bool, len(list)+len(add))
	for _, i := range list {
		used[i.ID], used[i.Supersedes] = true, true
		for _, id := range i.Lineage {
			used[id] = true
		}
	}
	for _, p := range add {
		used[p.ID], used[p.Supersedes] = true, true
	}
	n := len(list)
	for i := range add {
		p := &add[i]
		for next := n + 1; p.ID == ""; next++ {
			if id := string(kind[:1]) + strconv.Itoa(next); !used[id] && !had.Has(kind, id) {
				p.ID, used[id] = id, true
			}
		}
		if is := func(i envelope.Item) bool { return i.ID == p.ID || i.ID == p.Supersedes }; !slices.ContainsFunc(list, is) {
			n++
		}
	}
	return add
}

// points adds to a list by id: the same id replaces, and so does naming what is superseded. What is replaced passes its
// pin on, so that nobody can take what was pinned out of the prompts to come by saying it in other words, and its
// importance, where the new words come without one.
func points(list []envelope.Item, add []Point, by string, rules bool) []envelope.Item {
	list = slices.Grow(slices.Clone(list), len(add))
	ids := make(map[string]bool, len(list)+len(add))
	for _, i := range list {
		ids[i.ID] = true
	}
	for _, p := range add {
		if !ids[p.ID] && slices.ContainsFunc(list, func(i envelope.Item) bool { return i.StandsFor(p.ID) }) {
			continue // it is said again, and what replaced it is here
		}
		if at := slices.IndexFunc(list, p.says); at >= 0 {
			restate(&list[at], p, by, rules)
			continue
		}
		item := envelope.Item{ID: p.ID, Text: p.Text, Supersedes: p.Supersedes, Reasoning: p.Reasoning, By: by, Weight: envelope.Weight{Pinned: p.Pinned, Importance: p.Importance}}
		if ids[p.ID] || ids[p.Supersedes] {
			list = slices.DeleteFunc(list, func(i envelope.Item) bool {
				if i.ID != p.ID && (p.Supersedes == "" || i.ID != p.Supersedes) {
					return false
				}
				if p.Importance == 0 || (i.By != by || i.Ruled) && !rules { // nobody makes less of what others find important
					item.Importance = max(item.Importance, i.Importance)
				}
				replace(&item, i)
				return true
			})
			delete(ids, p.Supersedes)
		}
		item.Ruled = rules && ruled(item)
		ids[p.ID] = true
		list = append(list, item)
	}
	return list
}

// unheard are the points that were added and replaced at once, in words that no envelope has: their ids are named, since what replaced them names these, too.
func unheard(kind envelope.PartKind, before, after []envelope.Item, add []Point, had envelopestore.Points) (gaps []envelope.Gap) {
	for _, p := range add {
		same := func(i envelope.Item) bool { return i.ID == p.ID && i.Text == p.Text }
		if !slices.ContainsFunc(after, same) && !slices.ContainsFunc(before, same) && !had.Says(kind, p.ID, p.Text) {
			gaps = append(gaps, envelope.Gap{Kind: kind, ID: p.ID, Reason: envelope.GapReplaced})
		}
	}
	return gaps
}

// says reports whether a point says what an item says already, and nothing else: it changes neither its words nor what it replaced.
func (p Point) says(i envelope.Item) bool {
	return p.ID == i.ID && p.Text == i.Text && (p.Reasoning == "" || p.Reasoning == i.Reasoning) && (p.Supersedes == "" || i.StandsFor(p.Supersedes))
}

// restate has an item that is said again word for word count for more: its words stay those of its author, also where others repeat them. Only the author and the
// requester or an operator make it less important, and the author not what these have made vital.
func restate(item *envelope.Item, p Point, by string, rules bool) {
	switch {
	case p.Importance == 0:
	case item.By == by && !item.Ruled || rules:
		item.Importance = p.Importance
	default:
		item.Importance = max(item.Importance, p.Importance)
	}
	item.Pinned = item.Pinned || p.Pinned && (rules || !item.Ruled) // what is ruled comes before what agents pin
	if rules {
		item.Ruled = ruled(*item) && (item.Ruled || p.Pinned || p.Importance >= envelope.Vital)
	}
}

// ruled reports whether an item is pinned or vital, so that it is of interest who made it so.
func ruled(item envelope.Item) bool { return item.Pinned || item.Importance >= envelope.Vital }

// replace gives an item what it takes over from one that it replaces, and whose that was.
func replace(item *envelope.Item, old envelope.Item) {
	stands, authors := append([]string{old.ID, old.Supersedes}, old.Lineage...), append([]string{item.WasBy, old.By, old.WasBy}, old.EarlierBy...)
	item.Pinned = item.Pinned || old.Pinned
	switch {
	case old.ID != item.ID:
		item.WasBy = old.By
	case old.By == item.By: // it replaces what that replaced
		item.Supersedes, item.WasBy = old.Supersedes, old.WasBy
	default:
		item.Supersedes, item.WasBy = "", old.By
	}
	for _, id := range stands {
		if id != "" && id != item.ID && !item.StandsFor(id) && len(item.Lineage) < envelope.MaxLineage {
			item.Lineage = append(item.Lineage, id)
		}
	}
	for _, by := range authors {
		if by != "" && by != item.By && by != item.WasBy && !slices.Contains(item.EarlierBy, by) {
			item.EarlierBy = append(item.EarlierBy, by)
		}
	}
	item.EarlierMore += old.EarlierMore
	for len(item.EarlierBy) > envelope.MaxEarlier { // neither the newest, nor the oldest, nor an operator is left out
		agent := slices.IndexFunc(item.EarlierBy[1:envelope.MaxEarlier], func(by string) bool { return !strings.Contains(by, "/") })
		item.EarlierBy = slices.Delete(item.EarlierBy, max(agent, 0)+1, max(agent, 0)+2)
		item.EarlierMore++
	}
	original(item, old)
}

// original gives an item the words of another author that it stands for: those that the requester or an operator said last, or else those that were pinned or vital first.
// A reader fetches them with the item.
func original(item *envelope.Item, old envelope.Item) {
	text, by := old.Original, old.OriginalBy
	operator := func(by string) bool { return strings.Contains(by, "/") }
	if old.By != item.By && (by == "" || by == item.By || old.Ruled && !operator(by) || operator(old.By)) {
		text, by = old.Text, old.By
	}
	if by == "" || by == item.By || !ruled(*item) && !operator(by) || item.OriginalBy != "" && !operator(by) {
		return
	}
	item.Original, item.OriginalBy = text, by
}

// constraints are those of a task, with what the envelope before has of them that this version does not know.
func constraints(t task.Task, before []envelope.Constraint) []envelope.Constraint {
	out := make([]envelope.Constraint, len(t.Constraints))
	for i, c := range t.Constraints {
		out[i] = envelope.Constraint{
			ID: c.ID, Kind: c.Kind, Text: c.Text, Hard: c.Hard, Origin: event.Bare(c.Origin), Max: c.Max, Allow: c.Allow,
			TextBy: event.Bare(c.TextBy), HardBy: event.Bare(c.HardBy), MaxBy: event.Bare(c.MaxBy), AllowBy: event.Bare(c.AllowBy), Added: t.Added(c),
		}
		if at := slices.IndexFunc(before, func(b envelope.Constraint) bool { return b.ID == c.ID }); at >= 0 {
			out[i].Extra = before[at].Extra
		}
	}
	return out
}

func expected(e event.Expected, before envelope.Expected) envelope.Expected {
	return envelope.Expected{Format: e.Format, MaxBytes: e.MaxBytes, Criteria: e.Criteria, Schema: e.Schema, Extra: before.Extra}
}
