package sqlview

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/tasklist"
)

// Lengths of previews, in characters.
const (
	taskPreview = 200
	taskWords   = 4000 // of an intent, for searches
	itemPreview = 500
)

// taskFold is one task in the cache of the projector: the fold of its stream as far as views show it, and its rows in the
// tables.
type taskFold struct {
	stream        ledger.Stream
	workspace, id string
	first         ledger.Position // of its first entry, the row's number

	state    task.Task // without the fields that no view shows
	version  uint64
	at       ledger.Position
	updated  time.Time
	items    []item
	details  map[int]string // of shares not yet read
	involved []string       // the agents and principals whose lists contain it
	resumed  resumed        // why its owner last continued it
	missed   []string       // subscribers that could take nothing when it was last published
	refers   []string       // digests of artifacts that the tables may lack
	tickets  []ticket       // changed since they were written
	decided  []decided      // that the tables lack
	intent   string         // for searches, if it is longer than a row shows; until it is written
	handoff  handoffID      // that was asked for last
	of       keys
	stored   stored
	dirty    bool
}

// handoffID is the id of a handoff of a task by its number.
type handoffID struct {
	n  int
	id string
}

// handoffID is the id of a handoff of the task.
func (t *taskFold) handoffID(n int) string {
	if t.handoff.n != n || t.handoff.id == "" {
		t.handoff = handoffID{n, event.HandoffID(t.id, n)}
	}
	return t.handoff.id
}

// keys are the workspace and the id as arguments of statements: most rows of a task have both.
type keys struct{ workspace, id any }

// stored is the state of the tables.
type stored struct {
	exists     bool
	columns    columns
	items      []item
	offer      offer
	involved   int // the number of entries of taskFold.involved
	dependents bool
	claims     []claim
}

// columns are the columns that an update omits if they have not changed.
type columns struct {
	state event.State
	live  int
	owner string
	due   int64
}

// claim is an open claim and the agents that may join it: those with a capability, or one agent. Or it is a handoff that waits for the circuit of
// an agent.
type claim struct {
	who     string
	handoff int
}

// resumed says from whom a task returned to its owner, and why.
type resumed struct{ from, why string }

// receivers names the receivers of the children that a task waited for.
func receivers(s *task.Task) string {
	var names []string
	for _, c := range s.Children {
		if c.Group == s.Awaits {
			names = append(names, c.To)
		}
	}
	return preview(strings.Join(names, ", "), taskPreview)
}

func (p *projector) taskEntry(workspace, id string, e *ledger.Entry) error {
	t, ok := p.cached(e.Stream)
	if !ok || t.version+1 != e.Version {
		var err error
		if t, err = p.loadTask(workspace, id, e); err != nil {
			return err
		}
		p.tasks.Put(t.stream, t)
	}
	if !t.dirty {
		t.dirty = true
		p.dirty = append(p.dirty, t)
	}
	was := t.open()
	if err := p.apply(t, e); err != nil {
		return err
	}
	if n := t.open() - was; n != 0 {
		p.late.Count(counted{workspace: workspace, principal: t.state.Requester}, n)
	}
	return nil
}

// open is the number of open tasks that it is: 1 or 0.
func (t *taskFold) open() int {
	if t.version == 0 || t.state.State.Final() {
		return 0
	}
	return 1
}

func (p *projector) cached(s ledger.Stream) (*taskFold, bool) {
	if t, ok := p.tasks.Get(s); ok {
		return t, true
	}
	return p.ended.Get(s)
}

// loadTask returns the task before an entry, as the tables have it.
func (p *projector) loadTask(workspace, id string, e *ledger.Entry) (*taskFold, error) {
	t := &taskFold{stream: e.Stream, workspace: workspace, id: id, first: e.Position, of: keys{workspace, id}}
	if e.Version == 1 {
		return t, nil
	}
	if p.load == nil {
		return nil, fmt.Errorf("no ledger to read %s from", e.Stream)
	}
	for t.at < e.Position {
		entries, err := p.load(context.Background(), e.Stream, t.at, loadBatch)
		if err != nil {
			return nil, err
		}
		for i := range entries {
			if entries[i].Position >= e.Position {
				break
			}
			if t.at == 0 {
				t.first = entries[i].Position
			}
			if err := p.apply(t, &entries[i]); err != nil {
				return nil, err
			}
		}
		if len(entries) < loadBatch {
			break
		}
	}
	if t.version+1 != e.Version {
		return nil, fmt.Errorf("version %d follows %d", e.Version, t.version)
	}
	t.stored = stored{
		exists: true, columns: t.columns(), items: t.items, offer: t.offer(), involved: len(t.involved),
		dependents: t.waits(), claims: t.claims(),
	}
	t.refers, t.tickets, t.decided = nil, nil, nil
	return t, nil
}

// apply folds an entry into the task.
func (p *projector) apply(t *taskFold, e *ledger.Entry) error {
	for i := range e.Events {
		event, err := p.events.Decode(e.Events[i])
		if err != nil {
			return err
		}
		if err := t.noteDecision(event, e); err != nil {
			return err
		}
		ticket := t.state.Ticket
		task.FoldOwn(&t.state, event)
		t.note(event)
		t.noteTicket(ticket, e)
	}
	t.version, t.at, t.updated = e.Version, e.Position, e.Time
	t.refresh(p, e)
	return nil
}

// note keeps what the fold does not, and drops fields that no view shows: a task may be large.
func (t *taskFold) note(ev event.Event) {
	s := &t.state
	switch e := ev.(type) {
	case event.Created:
		if t.intent = strings.Clone(preview(e.Intent, taskWords)); t.intent == preview(e.Intent, taskPreview) {
			t.intent = ""
		}
		s.Intent = strings.Clone(preview(e.Intent, itemPreview))
		s.Expected, s.Permissions, s.Constraints, s.Path = event.Expected{}, nil, nil, nil
		t.involve(e.Requester)
	case event.Started:
		t.involve(e.Agent)
	case event.Sealed:
		t.refers = append(t.refers, artifacts(e.Bytes)...)
	case event.HandoffRequested:
		s.Handoff.Detail = strings.Clone(preview(e.Detail, itemPreview)) // created by the fold, not shared
		s.Handoff.Permits, s.Handoff.Pack, s.Handoff.Decision = nil, event.Pack{}, nil
		if e.Approver != "" {
			t.involve(e.Approver)
		}
		t.miss(e)
	case event.OfferMade:
		for _, agent := range e.To {
			t.involve(agent)
		}
	case event.ClaimJoined:
		t.involve(e.Agent)
	case event.Moved:
		if s.Resumed { // its new owner asked for it
			t.resumed = resumed{from: strings.Clone(e.From), why: "you asked to take it over"}
		}
		s.Path, s.Permissions = nil, nil
		t.involve(e.To)
	case event.Shared:
		if t.details == nil {
			t.details = map[int]string{}
		}
		s.Shares[len(s.Shares)-1].Pack = event.Pack{} // created by the fold, not shared
		t.details[e.Share] = strings.Clone(preview(e.Detail, itemPreview))
		t.involve(e.To)
	case event.ShareRead:
		delete(t.details, e.Share)
	case event.Progressed:
		s.Progress = ""
	case event.Constrained:
		s.Constraints = nil
	case event.ChildEnded:
		if i := s.FindChild(e.Child); i >= 0 {
			s.Children[i].Result = nil // the fold has just created the list
		}
	case event.Joined:
		t.resumed, s.Result = resumed{from: receivers(s), why: strings.Clone(e.Why)}, nil
	case event.TicketClosed:
		why := strings.TrimSuffix(string(e.Outcome)+": "+task.Said(e.Answer, e.Detail), ": ")
		t.resumed = resumed{from: strings.Clone(cmp.Or(shortPrincipal(e.By), "system")), why: preview(why, itemPreview)}
	case event.Returned:
		t.resumed = resumed{from: "system", why: strings.Clone(preview(e.Why, itemPreview))} // which names the agent that refused
	case event.Replayed:
		t.resumed = resumed{from: strings.Clone(cmp.Or(shortPrincipal(e.By), "system")), why: preview(strings.TrimSuffix("replayed: "+e.Note, ": "), itemPreview)}
	case event.Finished, event.GaveUp:
		s.Result = nil
	}
	if s.State != event.Waiting {
		s.Children = nil
	}
	s.Missed = nil
	for i := range s.Notices { // the fold has just created those with a longer text
		if n := &s.Notices[i]; len(n.Why) > itemPreview {
			n.Why = strings.Clone(preview(n.Why, itemPreview))
		}
	}
}

// miss keeps the subscribers of a channel that could take nothing when the task was published to it.
func (t *taskFold) miss(e event.HandoffRequested) {
	t.missed = nil
	if e.Channel == "" || !e.Claim {
		return
	}
	for _, k := range e.Passed {
		t.missed = append(t.missed, strings.Clone(k.Agent))
	}
}

// involve adds the task to the lists of an agent, or of another principal.
func (t *taskFold) involve(principal string) {
	name := strings.TrimPrefix(principal, "agent/")
	if !slices.Contains(t.involved, name) {
		t.involved = append(t.involved, name)
	}
}

func (t *taskFold) columns() columns {
	c := columns{state: t.state.State, owner: t.state.Owner, live: 2}
	switch {
	case c.state.Final():
		c.live = 0
	case c.state == event.Parked:
		c.live = 1
	}
	if due := t.state.Due(); !due.IsZero() {
		c.due = roundUp(due)
	}
	return c
}

// roundUp converts to microseconds, rounded up so that no timer fires too early.
func roundUp(t time.Time) int64 {
	us := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		us++
	}
	return us
}

// waits reports whether the task waits for other tasks.
func (t *taskFold) waits() bool { return len(t.state.Dependencies) > 0 && !t.state.State.Final() }

// claims returns the agents that may join the task's open claim, if it has one, or for whose circuits its handoff waits.
func (t *taskFold) claims() (list []claim) {
	h := t.state.InFlight()
	if h != nil && h.AwaitsCircuit() {
		return waiting(h)
	}
	if h == nil || !openClaim(h) {
		return nil
	}
	if h.Capability != "" {
		list = append(list, claim{h.Capability, h.N})
	}
	for _, agent := range t.missed {
		list = append(list, claim{tasklist.MissedBy + agent, h.N})
	}
	return list
}

// waiting is the candidates of a handoff that waits for a circuit.
func waiting(h *task.Handoff) (list []claim) {
	for _, c := range h.Candidates[min(h.Next, len(h.Candidates)):] {
		if w := (claim{tasklist.WaitsFor + c.Agent, h.N}); !c.IsDesk() && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// openClaim reports whether the newest offer is made to all candidates at once.
func openClaim(h *task.Handoff) bool {
	return h.Claim && h.Stage == event.Offered && h.Next < len(h.Candidates) && h.Candidates[h.Next].Tier == event.TierTarget
}

// preview returns the first n characters.
func preview(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
