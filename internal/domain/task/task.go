package task

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task/passage"
)

// Task is the aggregate: one piece of work and the handoffs inside it. It is the fold of its events. What it points to is
// shared with other values and is never changed. Its zero value is a task that does not exist yet.
type Task struct {
	ID        string
	State     event.State
	Intent    string // the original request, kept verbatim for ever
	Requester string // the principal that created it, "agent/NAME" or "operator/NAME"
	Priority  event.Priority
	Route     []string // agents that a choreographed task still has to visit

	Owner string    // the agent that holds it; empty if nobody does
	Giver string    // the principal on whose account the owner got it, see [Sender]; empty if the owner started it
	Epoch uint64    // rises with every change of owner; a call with another epoch is refused
	Lease time.Time // when the owner must next have shown life; zero while no lease runs

	ProgressBy time.Time // when the owner must next have reported progress; zero while nobody waits for that
	Human      bool      // the owner is a person, to whom it was offered as such
	Notifies   bool      // whether it gives any notices: see [event.Created]
	Resumed    bool      // its source is to go on, after a wait, a handoff that came back or a takeover that was granted, and has done no more than show life since

	Created  time.Time
	Deadline time.Time // zero: none
	Times    event.Timeouts
	Limits   event.Limits
	Used     event.Used
	Budget   event.Budget // zero fields: not limited
	Spent    event.Budget
	Reserved event.Budget // held by children that have not ended

	Chain Chain // where it stands in an escalation chain

	Path  []event.Visit // every owner in turn, the present one last; of many before a replay, the last: see [MaxFormer]
	Marks int           // counts progress, decisions and results: what makes a revisit work and not a loop

	Constraints  []event.Constraint // as they bind
	Rules        []Rule             // of the constraints that somebody tightened who did not set them: see [RuleAt]
	Permissions  []string           // nil: not restricted here
	Dependencies []event.Dependency
	Expected     event.Expected

	Conversation string // that it belongs to; empty: none
	Tags         []string
	Subject      string // that its content is about

	Envelope      string            // digest of the envelope that the next one follows: the newest, without that of a cold handoff that has not moved the task
	AskedIn       string            // digest of the newest envelope that neither was shared nor is for delegated parts: its ask is for an owner
	Trace         string            // traceparent of the first envelope: the steps of the task are in that trace; empty: none
	Held          string            // digest of what the present owner was given: a rendition, or the envelope of its handoff
	Handoff       *Handoff          // the newest handoff, in flight or over; nil if there was none
	fresh         *Handoff          // the same, while events are folded that may change it in place
	Basis         *Basis            // of the envelope that was sealed last, if nothing has happened since
	Takeovers     []TakeoverRequest // not yet answered
	TakeoverCount int
	Shares        []Share
	StuckReports  []StuckReport // of the present owner, one for each principal that reported it
	Ticket        *Ticket       // the newest, open or closed; nil if people were never asked
	Answers       []Answer      // of people, since the newest envelope was sealed

	Withheld Withheld  // from the owners since the last cold handoff
	ColdAt   time.Time // of that; zero: there was none
	Tenures  []Tenure  // of its owners, the present one last

	Past     []passage.Passage // since the newest envelope was sealed: see [MaxPast]
	Before   int               // how many visits at the beginning of Path are of its parents
	Replayed int               // how many visits at the beginning of Path ended before the last replay: see [Counted]

	Notices     Notices
	NoticeCount int

	Parent   event.Parent
	Children []Child
	Missed   []event.Passed // of a fan-out, the newest of them: who gets none, because it could not be reached
	FanIn    event.FanIn
	Awaits   int       // the group of children that it waits for
	JoinBy   time.Time // when a parent stops waiting; zero: never
	TakeUpBy time.Time // when the requester must have taken up a task that came back to it and that nobody owns; zero: no clock

	Unsent    *event.Unsent   // of the send that could not begin, for which it is in the dead letters; nil: there was none
	Parked    *ParkedFor      // why it is in the dead letters, or was when it ended; nil once it is replayed
	WasParked *ParkedFor      // why it was in the dead letters before its last replay
	Progress  string          // the newest progress note
	Notes     []string        // the last progress notes of the present owner, oldest first: see [MaxNotes]
	Dropped   passage.Dropped // what is no longer in Notes, Answers and Past
	Result    *event.Result
	Ended     time.Time
	EndedBy   string // who cancelled or discarded it; empty if it ended otherwise
	EndedWhy  string // in words; may be empty

	// Involved names the agents that had a relation to the task: asked for it, held it, approve it, or were offered or
	// shared it. At most MaxInvolved; a replay keeps it.
	Involved []string
}

// TakeoverRequest is an agent's request to take the task over, numbered from 1.
type TakeoverRequest struct {
	N      int    `json:"n"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// StuckReport is how often a principal has reported that the owner is stuck.
type StuckReport struct {
	By    string `json:"by"`
	Times int    `json:"times"`
}

// Share is a sealed envelope given to an agent that does not own the task.
type Share struct {
	N         int        `json:"n"`
	To        string     `json:"to"`
	From      string     `json:"from"`
	Envelope  string     `json:"envelope"`
	Pack      event.Pack `json:"pack,omitzero"`
	Rendition string     `json:"rendition,omitempty"` // digest of the envelope as packed for the receiver
	Read      bool       `json:"read"`
}

// ParkedFor is why a task is in the dead letters.
type ParkedFor struct {
	Cause  event.ParkCause `json:"cause"`
	Detail string          `json:"detail"`
	At     time.Time       `json:"at"`
}

// Exists reports whether the task has been created.
func (t *Task) Exists() bool { return t.State != None }

// Source is the owner of the task, or its requester while nobody owns it.
func (t *Task) Source() string {
	if t.Owner != "" {
		return t.Owner
	}
	return t.Requester
}

// SourcePrincipal is [Task.Source] as the principal that it is.
func (t *Task) SourcePrincipal() string {
	if t.Owner != "" {
		return "agent/" + t.Owner
	}
	return t.Requester
}

// Unmet lists the dependencies that have not completed.
func (t *Task) Unmet() []string {
	var ids []string
	for _, d := range t.Dependencies {
		if d.State != event.Completed {
			ids = append(ids, d.Task)
		}
	}
	return ids
}

// FindConstraint is the place of a constraint among the task's; below zero if it has none of that id.
func (t *Task) FindConstraint(id string) int {
	return slices.IndexFunc(t.Constraints, func(c event.Constraint) bool { return c.ID == id })
}

// Root is the principal that requested the root of the tree that the task belongs to: the task's own requester if it has no parent,
// and empty for a child of an older record. The requester of a child is the owner of its parent.
func Root(t *Task) string {
	if t.Parent.Task != "" {
		return t.Parent.Requester
	}
	return t.Requester
}

// Adds reports whether a principal that sets a constraint adds it to those of the requester and operators: it is an agent, and did not
// request the root of the tree. For a child of an older record, the agent must not be the child's requester.
func (t *Task) Adds(by string) bool {
	return strings.HasPrefix(by, "agent/") && by != cmp.Or(Root(t), t.Requester)
}

// Added reports whether an agent that did not request the root set a constraint. Records from before constraints said so tell it by
// the setter, unless the task is a child, whose constraints come from others.
func (t *Task) Added(c event.Constraint) bool {
	return c.Added || t.Parent.Task == "" && t.Adds(c.Origin)
}

// Left is what remains of the budget: below zero where it is overspent.
func (t *Task) Left() event.Budget { return t.Budget.Minus(t.Spent).Minus(t.Reserved) }

// BudgetSpent reports whether a budget that is set has nothing left, or less than nothing.
func (t *Task) BudgetSpent() (used, over bool) {
	b := t.Left()
	used = (t.Budget.Tokens > 0 && b.Tokens <= 0) || (t.Budget.Cost > 0 && b.Cost <= 0)
	over = (t.Budget.Tokens > 0 && b.Tokens < 0) || (t.Budget.Cost > 0 && b.Cost < 0)
	return used, over
}

// StuckReportsBy is how often a principal has reported that the present owner is stuck.
func (t *Task) StuckReportsBy(by string) int {
	for _, w := range t.StuckReports {
		if w.By == by {
			return w.Times
		}
	}
	return 0
}

// MaxInvolved bounds the agents that a task remembers as having had a relation to it.
const MaxInvolved = 4096

// MaxNotes is how many progress notes a task remembers of its present owner, and maxNotesText their bytes in all; the newest
// is remembered however long it is.
const (
	MaxNotes     = 20
	maxNotesText = 16 << 10
)

// addNote remembers a progress note.
func (t *Task) addNote(text string) {
	if n := len(t.Notes); n > 0 && t.Notes[n-1] == text {
		return
	}
	notes := append(slices.Clip(t.Notes), text)
	from, size := len(notes)-1, len(text)
	for from > 0 && len(notes)-from < MaxNotes && size+len(notes[from-1]) <= maxNotesText {
		from--
		size += len(notes[from])
	}
	t.Notes = notes[passage.Fallen(from, &t.Dropped.Notes, &t.Dropped.ToldNotes):]
}

// involve notes that agents have a relation to the task.
func (t *Task) involve(agents ...string) {
	all := slices.Clip(t.Involved) // it may be shared
	for _, a := range agents {
		if a != "" && len(all) < MaxInvolved && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	t.Involved = all
}

// MaxFormer is how many of the visits before its last replay a task remembers.
const MaxFormer = 100

// Weight is about how many bytes the task takes in memory.
func (t *Task) Weight() int {
	n := 2048 + len(t.Intent) + len(t.Progress) + t.Result.Weight()
	for _, note := range t.Notes {
		n += 16 + len(note)
	}
	for _, c := range t.Children {
		n += 144 + len(c.Why) + c.Result.Weight()
	}
	for _, c := range t.Constraints {
		n += 64 + len(c.Text)
	}
	for _, r := range t.Rules {
		n += 512 * (1 + len(r.Layers))
	}
	for _, s := range t.Shares {
		n += 256 + s.Pack.Weight()
	}
	if t.Handoff != nil {
		n += t.Handoff.Pack.Weight()
	}
	if k := t.Ticket; k != nil {
		n += 512 + len(k.Question) + len(k.Answer) + len(k.Detail)
	}
	for _, a := range t.Answers {
		n += 128 + len(a.Question) + len(a.Answer) + len(a.Detail)
	}
	for _, p := range t.Past {
		n += 160 + len(p.Detail)
	}
	return n + 32*(len(t.Involved)+len(t.Tags)+len(t.Path))
}
