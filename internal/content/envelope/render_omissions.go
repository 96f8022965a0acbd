package envelope

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/content/prompt"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// leftOutTitle is the heading of the list of omissions. It names the call that fetches one of them, or all of a kind.
func leftOutTitle(e *Envelope, via fetchcall.Via) string {
	const title = "Left out"
	if len(e.Omissions) == 0 || e.Handoff.TaskID == "" {
		return title // gaps cannot be fetched
	}
	return title + fetching(via, e.Handoff.TaskID, e.fetchExample())
}

// artifactsTitle is the heading of the list of artifacts, whose digests stand for DIGEST in the call that it names.
func artifactsTitle(e *Envelope, via fetchcall.Via) string {
	const title = "Artifacts"
	if len(e.Artifacts) == 0 || e.Handoff.TaskID == "" {
		return title
	}
	return title + fetching(via, e.Handoff.TaskID, "DIGEST")
}

// fetching is the call that fetches a part, as headings name it.
func fetching(via fetchcall.Via, task, part string) string {
	if strings.Trim(task+part, idLetters+".:") != "" {
		return "" // never an id of the server
	}
	return " (" + via.FetchCall(task, part) + ")"
}

// AllParts names everything that a reader did not get, where it names parts to fetch.
const AllParts = "all"

// longestExample is the most bytes of an id in the heading of the list of omissions.
const longestExample = 16

// fetchExample names the first omission of the list, as a reader names it.
func (e *Envelope) fetchExample() string {
	at := slices.IndexFunc(e.Omissions, func(o Omission) bool { return o.rank() != leftOther })
	o := &e.Omissions[max(at, 0)]
	named := o.rank() != leftOther || e.Packing.Listing == ListEach || e.Packing.Listing == ""
	if !named && e.Packing.Listing == ListTotal {
		return AllParts
	}
	if !named || o.ID == "" || len(o.ID) > longestExample || strings.Trim(o.ID, idLetters) != "" {
		return string(o.Kind)
	}
	return string(o.Kind) + ":" + o.ID
}

// idLetters are the characters of usual ids. Others could be read as part of a call.
const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// leftOut lists omissions and gaps, in the form of the document's listing.
func leftOut(e *Envelope) []prompt.Entry {
	var lines []string
	switch e.Packing.Listing {
	case ListTotal:
		lines = totalLeftOut(e)
	case ListGroups:
		lines = groupsLeftOut(e)
	default:
		lines = eachLeftOut(e)
	}
	entries := make([]prompt.Entry, len(lines))
	for i, line := range lines {
		entries[i].Label = line
	}
	return entries
}

// leftGroup is what one line of the list stands for.
type leftGroup struct {
	kind   PartKind
	reason OmissionReason
	rank   leftRank
}

// leftRank orders the groups. Those that are not others are named even where there is no room for a list.
type leftRank int

const (
	leftPinned leftRank = iota
	leftImportant
	leftOther
)

func (o *Omission) rank() leftRank {
	switch {
	case o.Pinned:
		return leftPinned
	case o.Important:
		return leftImportant
	}
	return leftOther
}

// mark is what a line of the list begins with.
func (r leftRank) mark() string { return [...]string{"pinned ", "important ", ""}[r] }

// leftSum is the omissions of one group.
type leftSum struct {
	leftGroup
	ids   []string
	parts int // with those that have no id
	sum   int // tokens
}

// leftSums groups omissions, pinned ones first, then important ones, else in the order of the document.
func leftSums(list []Omission) []*leftSum {
	var order []*leftSum
	groups := map[leftGroup]*leftSum{}
	for i := range list {
		o := &list[i]
		g := leftGroup{o.Kind, o.Reason, o.rank()}
		s := groups[g]
		if s == nil {
			s = &leftSum{leftGroup: g}
			groups[g] = s
			order = append(order, s)
		}
		if o.ID != "" {
			s.ids = append(s.ids, o.named())
		}
		s.parts += o.Parts()
		s.sum += o.Tokens
	}
	slices.SortStableFunc(order, func(a, b *leftSum) int { return cmp.Compare(a.rank, b.rank) })
	return order
}

// named is the id, with the authors if words of another were replaced.
func (o *Omission) named() string {
	if o.WasBy == "" {
		return prompt.Point(o.ID)
	}
	return prompt.Point(o.ID) + " (by " + prompt.Named(o.By) + ", replaces what " + prompt.Named(o.WasBy) + " said)"
}

// line is the group in one line. The ids come last: text cannot pose as them.
func (s *leftSum) line(named int) string {
	named = min(named, len(s.ids))
	line := s.rank.mark() + visible.Word(string(s.kind))
	if s.parts > 1 && named < s.parts {
		line += fmt.Sprintf(" ×%d", s.parts)
	}
	var about []string
	if s.reason != OverBudget {
		about = append(about, omissionWords[s.reason])
	}
	if s.sum > 0 {
		about = append(about, fmt.Sprintf("%d tokens", s.sum))
	}
	if len(about) > 0 {
		line += " (" + strings.Join(about, ", ") + ")"
	}
	if named > 0 {
		line += ": " + strings.Join(prompt.Ranges(s.ids[:named]), " ")
	}
	return line
}

// eachLeftOut names every part: a line for each memory item, with its title, and for each group of others.
func eachLeftOut(e *Envelope) []string {
	var items, others []Omission
	for _, o := range e.Omissions {
		if o.Kind == PartMemory && o.ID != "" {
			items = append(items, o)
		} else {
			others = append(others, o)
		}
	}
	entries := make([]string, 0, len(items)+len(e.Gaps)+8)
	for _, s := range leftSums(others) {
		entries = append(entries, s.line(s.parts))
	}
	refs := make(map[string]*MemoryRef, len(e.Memory))
	for i := range e.Memory {
		refs[e.Memory[i].ID] = &e.Memory[i]
	}
	for i := range items {
		o := &items[i]
		line, title := "memory "+visible.Word(o.ID), ""
		if m := refs[o.ID]; m != nil {
			line, title = "memory "+m.label(), m.Title
		}
		line = o.rank().mark() + line
		if o.Tokens > 0 {
			line += fmt.Sprintf(" (%d tokens)", o.Tokens)
		}
		if title != "" {
			line += " " + prompt.Titled(title)
		}
		entries = append(entries, line)
	}
	for _, g := range e.Gaps {
		entries = append(entries, fmt.Sprintf("%s (%s): %s", visible.Word(string(g.Kind)), g.Reason.InWords(), visible.Word(g.ID)))
	}
	return entries
}

// groupsLeftOut is a line for each group; those that are pinned or important are named.
func groupsLeftOut(e *Envelope) []string {
	var entries []string
	for _, s := range leftSums(e.Omissions) {
		named := 0
		if s.rank != leftOther {
			named = s.parts
		}
		entries = append(entries, s.line(named))
	}
	return append(entries, gapsLeftOut(e)...)
}

// totalLeftOut is one line for all, after those that name what is pinned or important.
func totalLeftOut(e *Envelope) []string {
	var entries []string
	n, sum := 0, 0
	for _, s := range leftSums(e.Omissions) {
		if s.rank != leftOther {
			entries = append(entries, s.line(prompt.Few(s.ids)))
			continue
		}
		n += s.parts
		sum += s.sum
	}
	if n > 0 {
		entries = append(entries, fmt.Sprintf("parts ×%d%s", n, prompt.Tokens(sum)))
	}
	return append(entries, gapsLeftOut(e)...)
}

func gapsLeftOut(e *Envelope) []string {
	if len(e.Gaps) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("references ×%d, not to be had", len(e.Gaps))}
}

var omissionWords = map[OmissionReason]string{
	OverBudget: "no room", OverShare: "important beyond its author's share", RawLog: "a raw log", Settled: "already settled", ToolCall: "the sender's tool call", OnDemand: "on demand",
}

var gapWords = map[GapReason]string{GapNotFound: "not found", GapForgotten: "forgotten since", GapNotReadable: "not yours to read", GapReplaced: "replaced before it was handed over"}

// InWords returns the reason as texts have it.
func (r GapReason) InWords() string { return cmp.Or(gapWords[r], visible.Word(string(r))) }
