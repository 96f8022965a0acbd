package task

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// Fold is the task after an event. It never refuses, and never changes what t shares with other values.
func Fold(t Task, e event.Event) Task {
	t.Apply(e)
	return t
}

// Apply folds events in order, in place, for a caller that has a Task of its own: it is large. What t shares with other
// values stays as it is.
func (t *Task) Apply(events ...event.Event) {
	for _, e := range events {
		t.apply(e)
	}
	t.fresh = nil // t may be copied now
}

// FoldOwn is [Task.Apply] for a Task of which no copy is ever made: its handoff is not copied for each event.
func FoldOwn(t *Task, e event.Event) { t.apply(e) }

func (t *Task) apply(e event.Event) {
	before, was := t.State, t.holders()
	t.foldEvent(e)
	if _, sealed := e.(event.Sealed); !sealed {
		t.Basis = nil
	}
	if t.State == before { // a fold that picks between two edges has already moved
		t.State = TaskMoves.from(before, e.EventName())
	}
	if t.State != event.Executing && (t.State != event.Pending || t.Owner != "") {
		t.Resumed = false
	}
	if t.State != event.Pending {
		t.TakeUpBy = time.Time{}
	}
	if h := t.Handoff; h != nil && !h.Stage.Final() {
		if to := HandoffMoves.from(h.Stage, e.EventName()); to != h.Stage {
			t.ownHandoff().Stage = to
		}
	}
	if t.Notifies {
		t.notice(e, was)
	}
}

// FoldAll folds events in order.
func FoldAll(t Task, events []event.Event) Task {
	t.Apply(events...)
	return t
}

// foldEvent applies what an event says beyond the change of state. [event.Annotated], [event.AdviceTaken] and [event.Kept] say
// nothing about the task itself.
func (t *Task) foldEvent(e event.Event) {
	if !t.foldHandoff(e) && !t.foldTicket(e) {
		t.foldTask(e)
	}
}

func (t *Task) foldTask(e event.Event) {
	switch e := e.(type) {
	case event.Created:
		t.onCreated(e)
	case event.Started:
		t.onStarted(e)
	case event.LeaseRenewed:
		t.Lease, t.Resumed, t.Spent = e.Lease, t.Resumed && !e.Told, t.Spent.Plus(e.Usage)
	case event.Progressed:
		t.onProgressed(e)
	case event.GapReported:
		t.Spent = t.Spent.Plus(e.Usage)
		t.addNote(passage.Lacking(e.Missing, e.Detail))
	case event.Constrained:
		t.onConstrained(e)
	case event.Lifted:
		t.onLifted(e)
	case event.Finished:
		t.onFinished(e)
	case event.GaveUp:
		t.onGaveUp(e)
	case event.Called:
		t.onCalled(e)
	case event.Sealed:
		t.onSealed(e)
	case event.LeaseLost:
		t.Lease = time.Time{}
	case event.OwnerStuck:
		t.onOwnerStuck(e)
	case event.ParkedTask:
		t.onParkedTask(e)
	case event.Replayed:
		t.onReplayed(e)
	case event.BudgetRaised:
		t.onBudgetRaised(e)
	case event.Discarded:
		t.end(e.At, nil, event.Budget{})
		t.EndedBy, t.EndedWhy = e.By, strings.TrimSuffix(discarded+e.Why, ": ")
	case event.DependencyEnded:
		t.onDependencyEnded(e)
	case event.TakeoverAsked:
		t.onTakeoverAsked(e)
	case event.TakeoverRefused:
		t.dropTakeover(func(a TakeoverRequest) bool { return a.N == e.Takeover })
	case event.Shared:
		t.onShared(e)
	case event.ShareRead:
		t.onShare(e.Share, func(s *Share) { s.Read = true })
	case event.Rendered:
		t.onRendered(e)
	case event.NoticeSeen:
		t.onNoticeSeen(e)
	}
}

// ownHandoff gives the task its own copy of its handoff, to be changed, unless it has one. Inlined, it would put a Handoff into the frame of each caller.
//
//go:noinline
func (t *Task) ownHandoff() *Handoff {
	if t.Handoff == nil { // not a record that Decide has made; what it says of no handoff is lost
		return &Handoff{}
	}
	if t.fresh != t.Handoff {
		h := *t.Handoff
		t.Handoff, t.fresh = &h, &h
	}
	return t.fresh
}

func (t *Task) onCreated(e event.Created) {
	*t = Task{}
	t.ID, t.Intent, t.Requester, t.Priority, t.Route = e.Task, e.Intent, e.Requester, e.Priority, e.Route
	t.Created, t.Deadline, t.Times, t.Limits, t.Used, t.Budget = e.At, e.Deadline, e.Timeouts, e.Limits.WithDefaults(), e.Used, e.Budget
	t.Path, t.Before, t.Marks, t.Constraints, t.Permissions, t.Dependencies = e.Path, len(e.Path), e.Marks, e.Constraints, e.Permissions, e.Dependencies
	t.Expected, t.Parent, t.Conversation, t.Tags, t.Subject, t.Notifies = e.Expected, e.Parent, e.Conversation, e.Tags, e.Subject, e.Notices
}

func (t *Task) onStarted(e event.Started) {
	t.Human = false
	t.setOwner(e.Agent, t.Epoch+1, e.Lease, e.Lease.Add(-time.Duration(t.Times.Lease)))
	t.Held = ""
	t.dropTakeover(func(a TakeoverRequest) bool { return a.By == e.Agent }) // it has what it asked for
}

// setOwner makes agent the owner.
func (t *Task) setOwner(agent string, epoch uint64, lease, at time.Time) {
	t.involve(agent)
	t.tenure(agent, at)
	t.Owner, t.Epoch, t.Notes, t.StuckReports = agent, epoch, nil, nil
	t.Dropped.Notes, t.Dropped.ToldNotes = 0, 0
	t.runClocks(lease)
	t.Path = append(slices.Clip(t.PathSoFar()), event.Visit{Agent: agent, Marks: -1})
}

func (t *Task) onOwnerStuck(e event.OwnerStuck) {
	t.ProgressBy = time.Time{}
	if e.By == "" {
		return
	}
	words := slices.Clone(t.StuckReports)
	i := slices.IndexFunc(words, func(w StuckReport) bool { return w.By == e.By })
	if i < 0 {
		i, words = len(words), append(words, StuckReport{By: e.By})
	}
	words[i].Times++
	t.StuckReports = words
}

// runClocks starts the owner's clocks; a zero lease stops them. The lease of an event tells when the event happened.
func (t *Task) runClocks(lease time.Time) {
	t.Lease, t.ProgressBy = lease, time.Time{}
	if p := t.Times.Progress; p > 0 && !lease.IsZero() && !t.Human {
		t.ProgressBy = lease.Add(time.Duration(p - t.Times.Lease))
	}
}

func (t *Task) onProgressed(e event.Progressed) {
	t.Progress, t.Withheld.Note = e.Note, false
	t.addNote(e.Note)
	t.runClocks(e.Lease)
	t.Spent = t.Spent.Plus(e.Usage)
	t.Marks++
	t.Resumed = false
}

func (t *Task) onConstrained(e event.Constrained) {
	t.markAmended()
	t.Constraints = slices.Clone(t.Constraints)
	if i := t.FindConstraint(e.Constraint.ID); i >= 0 {
		t.setRule(RuleAt(t, i).then(t.Constraints[i], e))
		t.Constraints[i] = e.Constraint
		return
	}
	t.Constraints = append(t.Constraints, e.Constraint)
}

// markAmended notes that the sealed envelope of the handoff in flight, if there is one, lacks something that its receiver must read.
func (t *Task) markAmended() {
	if t.InFlight() != nil || t.cameToDesk() {
		h := t.ownHandoff()
		h.Amended, h.Rendition = true, ""
	}
}

// cameToDesk reports whether the newest handoff ended at a desk of people.
func (t *Task) cameToDesk() bool { return t.Handoff != nil && t.Handoff.Stage == event.AtDesk }

func (t *Task) onLifted(e event.Lifted) {
	t.markAmended()
	t.liftedBy(e)
	t.Constraints = slices.Clone(t.Constraints)
	i := t.FindConstraint(e.ID)
	switch {
	case i < 0:
	case e.After.ID == "":
		t.Constraints = slices.Delete(t.Constraints, i, i+1)
		t.setRule(Rule{Base: event.Constraint{ID: e.ID}})
	default:
		t.setRule(RuleAt(t, i).lifted(e))
		t.Constraints[i] = e.After
	}
}

func (t *Task) onFinished(e event.Finished) {
	t.closeTicket(event.TicketResolved, e.Agent, "", e.At)
	t.end(e.At, &e.Result, e.Usage)
}

func (t *Task) onGaveUp(e event.GaveUp) {
	r := e.Result
	r.Text = cmp.Or(r.Text, e.Detail)
	t.closeTicket(event.TicketResolved, e.Agent, "", e.At)
	t.end(e.At, &r, e.Usage)
}

func (t *Task) onCalled(e event.Called) {
	t.end(e.At, nil, event.Budget{})
	t.EndedBy, t.EndedWhy = e.By, e.Detail
	t.closeTicket(event.TicketWithdrawn, e.By, "", e.At)
	t.closeHandoff("the task was cancelled", e.At)
}

// end stops every clock. The task keeps its owner.
func (t *Task) end(at time.Time, r *event.Result, usage event.Budget) {
	t.Spent = t.Spent.Plus(usage)
	t.runClocks(time.Time{})
	t.Ended, t.JoinBy, t.Takeovers = at, time.Time{}, nil
	if r != nil {
		t.Result = r
	}
}

// closeHandoff notes how the handoff in flight ended.
func (t *Task) closeHandoff(why string, at time.Time) {
	if t.InFlight() == nil {
		return
	}
	h := t.ownHandoff()
	h.Why, h.Ended = why, at
	h.RetryAt, h.OfferEnds, h.AckEnds, h.ApprovalEnds, h.ConfirmEnds = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
}

func (t *Task) onParkedTask(e event.ParkedTask) {
	t.Parked, t.Unsent = &ParkedFor{Cause: e.Cause, Detail: e.Detail, At: e.At}, e.Unsent
	t.onUnsent(e.Unsent)
	t.runClocks(time.Time{})
	t.JoinBy = time.Time{}
	t.dropTicket(e.At)
	t.closeHandoff(e.Detail, e.At)
}

func (t *Task) onReplayed(e event.Replayed) {
	t.State, t.TakeUpBy, t.Resumed = event.Pending, e.TakeUpBy, e.Tell
	if t.Owner != "" {
		t.State = event.Executing
		t.runClocks(e.Lease)
	}
	t.Deadline = e.Deadline
	t.passed(passage.Passage{At: e.At, Kind: passage.FromTheDead, By: e.By, Detail: e.Note})
	t.Used = event.Used{Handoffs: t.Used.Handoffs, Base: t.Used.Handoffs, Tasks: t.Used.Tasks, Before: t.Used.Owners()} // what came of it is there
	t.Parked, t.WasParked, t.Unsent = nil, t.Parked, nil
	t.Chain, t.StuckReports = Chain{}, nil
	t.countFromHere()
	if e.Route != nil {
		t.Route = e.Route
	}
	t.Budget.Tokens = cmp.Or(e.Budget.Tokens, t.Budget.Tokens)
	t.Budget.Cost = cmp.Or(e.Budget.Cost, t.Budget.Cost)
}

func (t *Task) onBudgetRaised(e event.BudgetRaised) {
	if e.Child == "" {
		t.Budget = e.Budget
		return
	}
	if i := t.FindChild(e.Child); i >= 0 && !t.Children[i].State.Final() {
		t.Children = slices.Clone(t.Children)
		t.Reserved = t.Reserved.Minus(t.Children[i].Budget).Plus(e.Budget)
		t.Children[i].Budget = e.Budget
	}
}

func (t *Task) onDependencyEnded(e event.DependencyEnded) {
	if !e.TakeUpBy.IsZero() {
		t.TakeUpBy = e.TakeUpBy
	}
	t.Dependencies = slices.Clone(t.Dependencies)
	for i := range t.Dependencies {
		if t.Dependencies[i].Task == e.Task {
			t.Dependencies[i].State = e.State
		}
	}
}

func (t *Task) onTakeoverAsked(e event.TakeoverAsked) {
	t.TakeoverCount = e.Takeover
	t.Takeovers = append(slices.Clip(t.Takeovers), TakeoverRequest{N: e.Takeover, By: e.By, Detail: e.Detail})
}

func (t *Task) dropTakeover(which func(TakeoverRequest) bool) {
	t.Takeovers = slices.DeleteFunc(slices.Clone(t.Takeovers), which)
}

func (t *Task) onShared(e event.Shared) {
	t.askedElsewhere(e.Envelope)
	t.involve(e.To)
	t.Shares = append(slices.Clip(t.Shares), Share{N: e.Share, To: e.To, From: e.From, Envelope: e.Envelope, Pack: e.Pack})
}

// onShare changes one share.
func (t *Task) onShare(n int, change func(*Share)) {
	t.Shares = slices.Clone(t.Shares)
	for i := range t.Shares {
		if t.Shares[i].N == n {
			change(&t.Shares[i])
		}
	}
}

func (t *Task) onRendered(e event.Rendered) {
	if e.Share > 0 {
		t.onShare(e.Share, func(s *Share) { s.Rendition = e.Digest })
		return
	}
	h := t.ownHandoff()
	h.Rendition = e.Digest
	if h.Stage == event.Transferred {
		t.Held = e.Digest
	}
}
