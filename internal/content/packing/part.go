package packing

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// part is one element that is kept whole or omitted whole.
type part struct {
	kind  envelope.PartKind
	id    string
	index int // its index in the document's list
	count int // the number of elements, if it is not 1

	wasBy     string // whose words it replaced: an operator's come first
	by        string // its author, if the prompt names it
	author    string // of the words, or of the pin; empty: not recorded, or the sender
	recorded  bool   // the server tells it
	pinned    bool
	ruled     bool // if it is pinned or vital, the requester or an operator made it so
	reasoning bool // whether it includes its reasoning
	weight    weight

	why      envelope.OmissionReason // the reason if it is omitted
	excluded bool                    // omitted whatever the budget
	in       bool                    // taken

	tokens int // of the part itself
	line   int // of its line in the list of omissions
}

// collect lists the parts of the document, in its order.
func (p *packer) collect() {
	doc := p.doc
	p.parts = make([]part, 0, 2+len(doc.KeyFacts)+len(doc.Decisions)+len(doc.History)+len(doc.Memory)+len(doc.Artifacts))
	for _, s := range []struct {
		kind  envelope.PartKind
		given bool
	}{
		{envelope.PartState, doc.Task.State != ""},
		{envelope.PartSummary, doc.ConversationSummary != ""},
		{envelope.PartData, len(doc.Task.Data) > 0},
		{envelope.PartDetail, doc.Handoff.Detail != ""},
		{envelope.PartNotes, doc.Handoff.Notes != ""},
	} {
		if s.given {
			p.add(part{kind: s.kind, weight: weight{Recency: 1}})
		}
	}
	p.items(envelope.PartFact, doc.KeyFacts)
	p.items(envelope.PartDecision, doc.Decisions)
	for i := range doc.History {
		s := &doc.History[i]
		p.add(part{kind: envelope.PartStep, id: strconv.Itoa(i + 1), index: i, author: s.Agent, recorded: s.Recorded, ruled: s.Recorded && strings.Contains(s.Agent, "/"), pinned: s.Pinned, weight: recent(s.Weight, i+1, len(doc.History))})
	}
	for i := range doc.Memory {
		m := &doc.Memory[i]
		author := cmp.Or(m.PinnedBy, m.Author)
		p.add(part{kind: envelope.PartMemory, id: m.ID, index: i, author: author, pinned: m.Pinned, ruled: strings.Contains(author, "/"), weight: recent(m.Weight, len(doc.Memory)-i, len(doc.Memory))})
	}
	for i := range doc.Artifacts {
		a := &doc.Artifacts[i]
		p.add(part{kind: envelope.PartArtifact, id: a.Digest, index: i, pinned: a.Pinned, weight: recent(a.Weight, len(doc.Artifacts)-i, len(doc.Artifacts))})
	}
	if n := len(doc.Conversation); n > 0 {
		p.add(part{kind: envelope.PartConversation, count: n, weight: weight{Recency: 1}})
	}
}

// Has reports whether doc has the part.
func Has(doc envelope.Envelope, ref Ref) bool {
	p := packer{doc: &doc}
	p.collect()
	return slices.ContainsFunc(p.parts, func(x part) bool { return x.kind == ref.Kind && x.id == ref.ID })
}

func (p *packer) items(kind envelope.PartKind, list []envelope.Item) {
	for i := range list {
		item := &list[i]
		why := Ref{envelope.PartReasoning, item.ID}
		with := item.Reasoning != "" && (p.options.Strategy == event.StrategyFull || slices.Contains(p.options.Pinned, why))
		p.add(part{kind: kind, id: item.ID, index: i, by: item.Author(p.doc.Handoff.From), author: item.By, wasBy: replaced(item), pinned: item.Pinned, ruled: item.Ruled, reasoning: with, weight: recent(item.Weight, i+1, len(list))})
		if item.Reasoning != "" && !with {
			p.parts = append(p.parts, part{
				kind: envelope.PartReasoning, id: item.ID, index: len(p.parts) - 1, why: envelope.Settled, excluded: true,
			})
		}
	}
}

// replaced is the other author of the words that an item replaced and brings along, or else an operator whose words it stands for: who is named can be fetched.
func replaced(item *envelope.Item) string {
	if item.OriginalBy != "" {
		return item.OriginalBy
	}
	for _, by := range append([]string{item.WasBy}, item.EarlierBy...) {
		if by != item.By && strings.Contains(by, "/") {
			return by
		}
	}
	return ""
}

// recent returns a weight by importance and position: position n of n is the most recent or the most relevant.
func recent(w envelope.Weight, position, n int) weight {
	return weight{Importance: w.Importance, Recency: float64(position) / float64(n)}
}

// add applies the options to a part and appends it.
func (p *packer) add(x part) {
	ref := Ref{x.kind, x.id}
	x.pinned = x.pinned || slices.Contains(p.options.Pinned, ref)
	if x.weight.Importance == 0 {
		x.weight.Importance = usualImportance
	}
	x.why, x.excluded = p.exclusion(&x)
	x.in = p.options.Strategy == event.StrategyFull && !x.excluded
	p.parts = append(p.parts, x)
}

// exclusion reports whether the part is omitted whatever the budget, and the reason if it is omitted.
func (p *packer) exclusion(x *part) (envelope.OmissionReason, bool) {
	switch {
	case x.kind == envelope.PartMemory && p.doc.Memory[x.index].Text == "":
		return envelope.OnDemand, true
	case p.options.Strategy == event.StrategyFull || x.pinned:
		return envelope.OverBudget, false
	case x.kind == envelope.PartConversation:
		return envelope.RawLog, true
	case x.kind == envelope.PartStep && p.doc.History[x.index].Tool != "":
		return envelope.ToolCall, true
	case slices.Contains(fetched[p.options.Strategy], x.kind):
		return envelope.OnDemand, true
	}
	return envelope.OverBudget, false
}

// fetched are the kinds that a strategy leaves to be fetched.
var fetched = map[event.Strategy][]envelope.PartKind{
	event.StrategySummaryRefs: {envelope.PartData, envelope.PartStep, envelope.PartMemory},
	event.StrategyLazy: {
		envelope.PartSummary, envelope.PartData, envelope.PartFact, envelope.PartDecision, envelope.PartStep, envelope.PartMemory,
	},
}

// important reports whether the prompt names the part where it is left out, though it is not pinned.
func (x *part) important() bool {
	return !x.pinned && x.weight.Importance >= vitalImportance && x.kind != envelope.PartReasoning
}

func (x *part) omission() envelope.Omission {
	o := envelope.Omission{Kind: x.kind, ID: x.id, Count: x.count, Tokens: x.tokens, Reason: x.why, Pinned: x.pinned, Important: x.important()}
	if x.wasBy != "" && x.author != "" && (o.Pinned || o.Important) {
		o.By, o.WasBy = x.author, x.wasBy
	}
	return o
}

// bare is the document without any of its parts.
func bare(e envelope.Envelope) envelope.Envelope {
	e.Task.State, e.ConversationSummary, e.Task.Data, e.Handoff.Detail, e.Handoff.Notes = "", "", nil, "", ""
	e.TextBy.State, e.TextBy.Summary, e.TextBy.Data, e.TextBy.Notes = "", "", "", ""
	e.KeyFacts, e.Decisions, e.History, e.Memory, e.Artifacts, e.Conversation = nil, nil, nil, nil, nil, nil
	return e
}

// put adds the part to an envelope.
func (x *part) put(to, from *envelope.Envelope) {
	switch x.kind {
	case envelope.PartState:
		to.Task.State, to.TextBy.State = from.Task.State, from.TextBy.State
	case envelope.PartSummary:
		to.ConversationSummary, to.TextBy.Summary = from.ConversationSummary, from.TextBy.Summary
	case envelope.PartData:
		to.Task.Data, to.TextBy.Data = from.Task.Data, from.TextBy.Data
	case envelope.PartDetail:
		to.Handoff.Detail = from.Handoff.Detail
	case envelope.PartNotes:
		to.Handoff.Notes, to.TextBy.Notes = from.Handoff.Notes, from.TextBy.Notes
	case envelope.PartFact:
		to.KeyFacts = append(to.KeyFacts, x.item(from.KeyFacts))
	case envelope.PartDecision:
		to.Decisions = append(to.Decisions, x.item(from.Decisions))
	case envelope.PartStep:
		step := from.History[x.index]
		step.Pinned = x.pinned
		to.History = append(to.History, step)
	case envelope.PartMemory:
		ref := from.Memory[x.index]
		ref.Pinned, ref.Tokens = x.pinned, x.tokens
		to.Memory = append(to.Memory, ref)
	case envelope.PartArtifact:
		artifact := from.Artifacts[x.index]
		artifact.Pinned = x.pinned
		to.Artifacts = append(to.Artifacts, artifact)
	case envelope.PartConversation:
		to.Conversation = from.Conversation
	case envelope.PartReasoning: // part of its item
	}
}

func (x *part) item(list []envelope.Item) envelope.Item {
	item := list[x.index]
	item.Pinned = x.pinned
	if !x.reasoning {
		item.Reasoning = ""
	}
	return item
}

// refer adds the reference by which an omitted part can be fetched.
func (x *part) refer(to, from *envelope.Envelope) {
	if x.kind == envelope.PartMemory {
		ref := from.Memory[x.index]
		ref.Text, ref.Pinned, ref.Tokens = "", x.pinned, x.tokens
		to.Memory = append(to.Memory, ref)
	}
}

// groups is the number of omissions if there is one of each kind and reason that is pinned, one that is important, and one that is neither.
var groups = 3 * len(envelope.PartKinds.Values()) * len(envelope.OmissionReasons.Values())

// maxListed is about the greatest size of the list of omissions in the document, in bytes.
const maxListed = 100 << 10

// aggregate sums up the omissions beyond what a document may list, by kind and reason.
func aggregate(list []envelope.Omission) []envelope.Omission {
	bytes := 0
	over := slices.IndexFunc(list, func(o envelope.Omission) bool {
		bytes += 90 + len(o.ID)
		return bytes > maxListed
	})
	most := len(list)
	if most > envelope.MaxOmissions {
		most = envelope.MaxOmissions - groups
	}
	if over >= 0 {
		most = min(most, over)
	}
	if most == len(list) {
		return list
	}
	kept := slices.Clone(list[:most])
	sums := []envelope.Omission{}
	for _, o := range list[len(kept):] {
		i := slices.IndexFunc(sums, func(s envelope.Omission) bool {
			return s.Kind == o.Kind && s.Reason == o.Reason && s.Pinned == o.Pinned && s.Important == o.Important
		})
		if i < 0 {
			i = len(sums)
			sums = append(sums, envelope.Omission{Kind: o.Kind, Reason: o.Reason, Pinned: o.Pinned, Important: o.Important})
		}
		sums[i].Count += o.Parts()
		sums[i].Tokens += o.Tokens
	}
	return append(kept, sums...)
}
