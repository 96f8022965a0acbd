package task

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Relation is what a principal has to do with a task. A principal may have several, and reads
// what any of them allows. The set is closed.
type Relation string

// The relations.
const (
	Requester Relation = "requester" // created it
	Owner     Relation = "owner"     // holds it, or held it when it ended
	Approver  Relation = "approver"  // is to approve the handoff in flight
	Receiver  Relation = "receiver"  // of its open offer
	Candidate Relation = "candidate" // for its open claim: one of those that may take it
	Shared    Relation = "shared"    // was shared an envelope of it
	Former    Relation = "former"    // held it before
	Involved  Relation = "involved"  // was offered it, or approved a handoff of it
)

// Relations lists every relation, those that read most first.
func Relations() []Relation {
	return []Relation{Requester, Owner, Approver, Receiver, Shared, Candidate, Former, Involved}
}

// Past is how much of the past of a task a relation reads: the content of its entries. What happened, when and by whom, is for all relations.
type Past string

// How much of the past is read.
const (
	PastNone Past = "none"
	// PastHeld is the entries from the time that the principal held the task, what it wrote itself, and what came before its time, back to the
	// last cold handoff: the receiver of a cold handoff gets the description alone.
	PastHeld  Past = "held"
	PastWhole Past = "whole"
)

// Visibility is what a relation lets a principal read of a task. State, owner, handoffs and the beginning of the intent are for all relations.
type Visibility struct {
	Intent bool // in whole
	Given  bool // the envelope that was offered or shared to it, with its files
	Work   bool // what is for those that work on the task now: envelope, progress, result, tickets, answers, children, shares
	Memory bool // memory items in the scope of the task and its conversation, until the task ends
	Past   Past // of the trail, of exports and of the drift report
}

// visibilities is the rule. Everybody else reads nothing, and is not told that the task exists; operators and auditors read everything.
var visibilities = map[Relation]Visibility{
	Requester: {Intent: true, Given: true, Work: true, Memory: true, Past: PastWhole},
	Owner:     {Intent: true, Given: true, Work: true, Memory: true, Past: PastHeld},
	Approver:  {Intent: true, Given: true, Work: true, Memory: true, Past: PastHeld},
	Receiver:  {Given: true, Past: PastNone},
	Shared:    {Given: true, Past: PastNone},
	Candidate: {Past: PastNone},
	Former:    {Intent: true, Memory: true, Past: PastHeld},
	Involved:  {Past: PastNone},
}

// Visibility is what the relation reads.
func (r Relation) Visibility() Visibility { return visibilities[r] }

// RelationsOf are the relations that a principal, "agent/NAME" or "operator/NAME", has to a task. None: it may not know of the task. The name of an
// agent is its identity ([event.AgentID]), so that an agent has no relation by what another one of its name did.
func RelationsOf(t *Task, principal string) (relations []Relation) {
	add := func(r Relation, is bool) {
		if is {
			relations = append(relations, r)
		}
	}
	if !t.Exists() {
		return nil
	}
	add(Requester, t.Requester == principal)
	name, ok := strings.CutPrefix(principal, "agent/")
	if !ok || name == "" {
		return relations
	}
	add(Owner, t.Owner == name)
	if h := t.InFlight(); h != nil {
		offered := h.Stage == event.Offered && slices.Contains(h.To, name)
		add(Approver, h.Approver == name)
		add(Receiver, offered && !h.Claim)
		add(Candidate, offered && h.Claim)
	}
	add(Shared, slices.ContainsFunc(t.Shares, func(s Share) bool { return s.To == name }))
	add(Former, t.Owner != name && t.held(name))
	add(Involved, len(relations) == 0 && slices.Contains(t.Involved, name))
	return relations
}

// held reports whether an agent has owned the task itself, also before a replay, and not only one of the tasks above it, whose path it
// continues.
func (t *Task) held(agent string) bool {
	return slices.ContainsFunc(OwnPath(t), func(v event.Visit) bool { return v.Agent == agent })
}

// VisibilityFor is what a principal reads of a task: nothing, as its zero value, if it has no relation to it.
func VisibilityFor(t *Task, principal string) (s Visibility) {
	for _, r := range RelationsOf(t, principal) {
		also := visibilities[r]
		s.Intent, s.Given, s.Work, s.Memory = s.Intent || also.Intent, s.Given || also.Given, s.Work || also.Work, s.Memory || also.Memory
		if s.Past == "" || s.Past == PastNone || also.Past == PastWhole {
			s.Past = also.Past
		}
	}
	return s
}
