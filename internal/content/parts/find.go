package parts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/canonical"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// Part is a part of an envelope.
type Part struct {
	Kind envelope.PartKind
	// ID is as in an [envelope.Omission]: empty if there is only one part of the kind.
	ID string
	// Text is the text of the part as the prompt has it. It is empty for an artifact, and for a memory item whose text the
	// envelope does not have.
	Text string
	// By is the author if that is not the sender.
	By string
	// Replaced says what a fact or decision replaced, as the prompt has it; of an original, whose words they are.
	Replaced string
	// Original reports that the text is what the author whose words a fact or decision replaced said in its place.
	Original bool
}

// ofOriginal is the end of the name of an original. No id of a fact or decision has a colon.
const ofOriginal = ":original"

// Name is the name of the part as [Find] takes it, such as fact:f12, fact:f12:original, step:4 or data.
func (p Part) Name() string {
	name := string(p.Kind)
	if p.ID != "" {
		name += ":" + p.ID
	}
	if p.Original {
		name += ofOriginal
	}
	return name
}

// Find returns parts of e, in the order of their names, each once. With a fact or decision comes its original. A name is a part's own (fact:f12, step:4, data), the id
// of a fact, decision, memory item or artifact alone, a range of ids that are counted up (fact:f3-f9), a kind, or [envelope.AllParts].
// The last two mean the parts that the reader did not get, by the omissions of its rendition; without omissions all parts.
// The names that e has no part for are missing, each with the reason if e gives one.
//
// The error is a refusal (invalid) of a name that can name no part.
func Find(e *envelope.Envelope, names []string, omitted []envelope.Omission) (found []Part, missing []string, err error) {
	f := finder{all: allOf(e), left: map[string]bool{}}
	for i := range omitted {
		o := &omitted[i]
		if name := (Part{Kind: o.Kind, ID: o.ID}).Name(); o.ID != "" || o.Count == 0 || o.Kind == envelope.PartConversation {
			f.left[name] = true
		} else {
			f.left[string(o.Kind)] = true // a document lists so many; the ids of others are not known
		}
	}
	taken := map[string]bool{}
	for _, name := range names {
		parts, ok := f.match(strings.TrimSpace(name))
		if !ok {
			return nil, nil, refusal.New(refusal.Invalid,
				"name parts like fact:f1, decision:d2, reasoning:d2, step:3, memory:ID, artifact:DIGEST, data, summary, state, conversation; fact for all facts that were left out; all for everything",
				"%.80q names no part of an envelope", name).With("field", "parts")
		}
		if len(parts) == 0 {
			missing = append(missing, whyMissing(e, name))
		}
		for _, p := range parts {
			if is := p.Name() + "\x00" + p.Text; !taken[is] { // a fact and a decision can have one id, and each its reasoning
				taken[is] = true
				found = append(found, p)
			}
		}
	}
	return found, missing, nil
}

// whyMissing is a name with the reason of its gap, or with what replaced the fact or decision, if there is one.
func whyMissing(e *envelope.Envelope, name string) string {
	for _, g := range e.Gaps {
		if name == g.ID || name == string(g.Kind)+":"+g.ID {
			return name + " (" + g.Reason.InWords() + ")"
		}
	}
	for _, l := range []struct {
		kind envelope.PartKind
		list []envelope.Item
	}{{envelope.PartFact, e.KeyFacts}, {envelope.PartDecision, e.Decisions}} {
		id, of := strings.CutPrefix(name, string(l.kind)+":")
		for i := range l.list {
			if of && l.list[i].StandsFor(id) {
				return name + " (replaced by " + visible.Word(l.list[i].ID) + ")"
			}
		}
	}
	return name
}

// allOf is every part of a document, in the order of its kinds.
func allOf(e *envelope.Envelope) []Part {
	var all []Part
	for _, p := range []Part{
		{Kind: envelope.PartState, Text: e.Task.State, By: e.TextBy.State},
		{Kind: envelope.PartSummary, Text: e.ConversationSummary, By: e.TextBy.Summary},
		{Kind: envelope.PartData, Text: dataText(e.Task.Data), By: e.TextBy.Data},
		{Kind: envelope.PartDetail, Text: e.Handoff.Detail, By: e.Handoff.By},
		{Kind: envelope.PartNotes, Text: e.Handoff.Notes, By: cmp.Or(e.TextBy.Notes, e.Handoff.By)},
	} {
		if p.Text != "" {
			all = append(all, p)
		}
	}
	all = append(append(all, points(envelope.PartFact, e.KeyFacts, e.Handoff.From)...), points(envelope.PartDecision, e.Decisions, e.Handoff.From)...)
	for _, list := range [][]envelope.Item{e.KeyFacts, e.Decisions} {
		for i := range list {
			if list[i].Reasoning != "" {
				all = append(all, Part{Kind: envelope.PartReasoning, ID: list[i].ID, Text: list[i].Reasoning, By: list[i].Author(e.Handoff.From)})
			}
		}
	}
	for i := range e.History {
		all = append(all, Part{Kind: envelope.PartStep, ID: strconv.Itoa(i + 1), Text: e.History[i].Line()})
	}
	for i := range e.Memory {
		all = append(all, Part{Kind: envelope.PartMemory, ID: e.Memory[i].ID, Text: e.Memory[i].Text, By: e.Memory[i].Author})
	}
	for i := range e.Artifacts {
		all = append(all, Part{Kind: envelope.PartArtifact, ID: e.Artifacts[i].Digest})
	}
	if len(e.Conversation) > 0 {
		lines := make([]string, len(e.Conversation))
		for i := range e.Conversation {
			lines[i] = e.Conversation[i].Line()
		}
		all = append(all, Part{Kind: envelope.PartConversation, Text: strings.Join(lines, "\n")})
	}
	return all
}

// points are facts or decisions, each before the words that it stands for.
func points(kind envelope.PartKind, list []envelope.Item, sender string) (all []Part) {
	for i := range list {
		item := &list[i]
		all = append(all, Part{Kind: kind, ID: item.ID, Text: item.Text, By: item.Author(sender), Replaced: item.Replaced()})
		if item.Original != "" {
			all = append(all, Part{Kind: kind, ID: item.ID, Text: item.Original, Replaced: "said by " + visible.Word(item.OriginalBy), Original: true})
		}
	}
	return all
}

func dataText(raw []byte) string {
	if canon, err := canonical.JSON(raw, envelope.MaxDepth); err == nil {
		return string(canon)
	}
	return string(raw)
}

// finder finds parts by name.
type finder struct {
	all  []Part
	left map[string]bool // names of the parts that the reader did not get; a kind alone: some of that kind
}

// match returns the parts of a name; false if it can name none.
func (f *finder) match(name string) ([]Part, bool) {
	if named := f.having(func(p Part) bool { return p.Name() == name || p.Original && p.Name() == name+ofOriginal }); len(named) > 0 {
		return named, true
	}
	if plain := strings.ReplaceAll(name, `"`, ""); plain != name { // as prompts have it
		return f.match(plain)
	}
	kind, id, _ := strings.Cut(name, ":")
	switch isKind := slices.Contains(envelope.PartKinds.Values(), envelope.PartKind(kind)); {
	case name == envelope.AllParts:
		return f.notGiven(func(Part) bool { return true }), true
	case isKind && id == "":
		return f.notGiven(func(p Part) bool { return string(p.Kind) == kind }), true
	case isKind:
		return f.between(envelope.PartKind(kind), id), true
	}
	alone := f.having(func(p Part) bool {
		return p.ID == name && (p.Kind == envelope.PartFact || p.Kind == envelope.PartDecision || p.Kind == envelope.PartMemory || p.Kind == envelope.PartArtifact)
	})
	memoryItem := strings.HasPrefix(name, "mem_") // it may be a gap
	return alone, len(alone) > 0 || memoryItem || envelope.ValidDigest(name)
}

func (f *finder) having(is func(Part) bool) (list []Part) {
	for _, p := range f.all {
		if is(p) {
			list = append(list, p)
		}
	}
	return list
}

// notGiven are the parts of which is holds that the reader did not get; all of them if it got each or that is not known.
func (f *finder) notGiven(is func(Part) bool) []Part {
	left := f.having(func(p Part) bool {
		return is(p) && (f.left[strings.TrimSuffix(p.Name(), ofOriginal)] || f.left[string(p.Kind)])
	})
	if len(left) > 0 {
		return left
	}
	return f.having(is)
}

// between are the parts of a range such as f3-f9. The lists of omissions write ids in this form.
func (f *finder) between(kind envelope.PartKind, ids string) []Part {
	for at := range len(ids) {
		if ids[at] != '-' {
			continue
		}
		letters, first, ok := numbered(ids[:at])
		same, last, also := numbered(ids[at+1:])
		if ok && also && letters == same {
			return f.having(func(p Part) bool {
				l, n, ok := numbered(p.ID)
				return p.Kind == kind && ok && l == letters && n >= first && n <= last
			})
		}
	}
	return nil
}

// numbered cuts an id such as f12 into its letters and its number.
func numbered(id string) (letters string, n int, ok bool) {
	letters = strings.TrimRight(id, "0123456789")
	n, err := strconv.Atoi(id[len(letters):])
	return letters, n, err == nil
}
