package task

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
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
	Epoch uint64    // rises with every change of owner; a call with another epoch is refused
	Lease time.Time // when the owner must next have shown life; zero while no lease runs

	Human      bool      // the owner is a person, to whom it was offered as such
	ProgressBy time.Time // when the owner must next have reported progress; zero while nobody waits for that

	Created  time.Time
	Deadline time.Time // zero: none
	Times    event.Timeouts
	Limits   event.Limits
	Used     event.Used
	Budget   event.Budget // zero fields: not limited
	Spent    event.Budget
	Reserved event.Budget // held by children that have not ended

	Chain Climb // where it stands in an escalation chain

	Path  []event.Visit // every owner in turn, the present one last
	Marks int           // counts progress, decisions and results: what makes a revisit work and not a loop

	Constraints  []event.Constraint
	Permissions  []string // nil: not restricted here
	Dependencies []event.Dependency
	Expected     event.Expected

	Conversation string // that it belongs to; empty: none
	Tags         []string

	Envelope string   // digest of the newest sealed envelope
	Held     string   // digest of what the present owner was given: a rendition, or the envelope of its handoff
	Handoff  *Handoff // the newest handoff, in flight or over; nil if there was none
	fresh    *Handoff // the same, while events are folded that may change it in place
	Asks     []Ask    // to take over, not yet answered
	AskCount int
	Shares   []Share
	Words    []Word   // that the present owner is stuck, one for each who said so
	Ticket   *Ticket  // the newest, open or closed; nil if people were never asked
	Answers  []Answer // of people, since the newest envelope was sealed

	Parent   event.Parent
	Children []Child
	FanIn    event.FanIn
	Awaits   int       // the group of children that it waits for
	JoinBy   time.Time // when a parent stops waiting; zero: never
	Resumed  bool      // its owner is to go on, after a wait or a handoff that came back, and has done no more than show life since

	Parked   *ParkedFor // why it is in the dead-letter queue; kept after a replay as what went before
	Progress string     // the newest progress note
	Notes    []string   // the last progress notes of the present owner, oldest first: see [MaxNotes]
	Result   *event.Result
	Ended    time.Time

	// Involved names the agents that had a part in the task: asked for it, held it, approve it, or were offered or
	// shared it. At most MaxInvolved; a replay keeps it.
	Involved []string
}

// Climb is where a task stands in an escalation chain. A chain is shared and nobody uses it up: each task has its own place.
type Climb struct {
	Chain string `json:"name"`            // empty: the task was not escalated along one
	Level int    `json:"level"`           // the highest that was asked, from 1
	Agent string `json:"agent,omitempty"` // of that level, who took it; empty: nobody did
}

// Handoff is one attempt to move the task. A retry or a fallback is a new offer of the same handoff.
type Handoff struct {
	N          int
	Kind       event.Kind
	Claim      bool // offered to all candidates at once; the first to accept wins
	Stage      event.Stage
	From       string // the agent or principal that gives the task up
	By         string // the principal that asked for it
	Recovery   bool
	Ticket     int  // by which a person took the task from a desk; 0: it is no such handoff
	Stuck      bool // a recovery of an owner that lives: only work ends it
	Counted    bool // against the attempts limit
	Reason     event.Reason
	Detail     string
	Chain      string // the escalation chain that the levels of its candidates are of
	Capability string // what was asked for, if not an agent by name
	Channel    string // that it was published to
	Confirm    event.ConfirmMode
	Times      event.Timeouts
	Retries    int
	ReturnHome bool // when all is used up: back to the source, not to the dead letters
	Approver   string
	Envelope   string
	Amended    bool            // the constraints have changed since that was sealed
	Pack       event.Pack      // how the sender wants the envelope packed
	Permits    []string        // the permissions that go along; nil: as the task has them
	RouteStep  bool            // a transfer takes the next stop off the task's route
	Decision   *event.Decision // of the policy, that sent it; nil: whoever asked for it named its receivers
	Requested  time.Time

	Candidates []event.Candidate
	Next       int // the candidate that the next offer goes to
	Tries      int // offers to the present candidate that went unanswered
	RetryAt    time.Time

	Offer     int // number of the newest offer
	Seen      bool
	SeenBy    []string
	To        []string // receivers of the newest offer
	Delivery  time.Time
	OfferEnds time.Time // offer clock, until seen
	AckEnds   time.Time // acknowledgment clock, once seen

	ApprovalEnds time.Time
	Rendition    string // digest of the envelope as packed for the newest offer's receiver; empty: not packed
	Receiver     string // who accepted
	ConfirmEnds  time.Time
	Why          string // how it ended
	Ended        time.Time
}

// ID is the handoff's id within a task.
func (h *Handoff) ID(task string) string { return event.HandoffID(task, h.N) }

// Ask is a receiver's wish to take the task over.
type Ask struct {
	N      int    `json:"n"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// Word is how often somebody has said that the owner is stuck.
type Word struct {
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

// Child is a parent's record of a child task.
type Child struct {
	Task   string        `json:"task"`
	Index  int           `json:"index"`
	To     string        `json:"to"`
	Budget event.Budget  `json:"budget,omitzero"`
	State  event.State   `json:"state"`           // Pending until it ends; Parked while in the dead letters
	Tasks  int           `json:"tasks,omitempty"` // how many may come of it; once it has ended, how many have
	Group  int           `json:"group"`           // children of one spawn belong together
	Result *event.Result `json:"result,omitempty"`
	Why    string        `json:"why,omitempty"` // it failed, was called off or is in the dead letters
}

// ParkedFor is why a task is in the dead-letter queue.
type ParkedFor struct {
	Cause  event.ParkCause `json:"cause"`
	Detail string          `json:"detail"`
	At     time.Time       `json:"at"`
}

// Source is who stands behind the task now: its owner, or its requester while nobody owns it.
func (t Task) Source() string {
	if t.Owner != "" {
		return t.Owner
	}
	return t.Requester
}

// InFlight is the handoff under way, or nil.
func (t Task) InFlight() *Handoff {
	if t.Handoff == nil || t.Handoff.Stage.Final() {
		return nil
	}
	return t.Handoff
}

// Unmet lists the dependencies that have not completed.
func (t Task) Unmet() []string {
	var ids []string
	for _, d := range t.Dependencies {
		if d.State != event.Completed {
			ids = append(ids, d.Task)
		}
	}
	return ids
}

// Exists reports whether the task has been created.
func (t Task) Exists() bool { return t.State != None }

// Left is what remains of the budget: below zero where it is overspent.
func (t Task) Left() event.Budget { return t.Budget.Minus(t.Spent).Minus(t.Reserved) }

// BudgetSpent reports whether a budget that is set has nothing left, or less than nothing.
func (t Task) BudgetSpent() (used, over bool) {
	b := t.Left()
	used = (t.Budget.Tokens > 0 && b.Tokens <= 0) || (t.Budget.Cost > 0 && b.Cost <= 0)
	over = (t.Budget.Tokens > 0 && b.Tokens < 0) || (t.Budget.Cost > 0 && b.Cost < 0)
	return used, over
}

// FindChild is the place of a child among the task's; below zero if it has none of that id.
func (t Task) FindChild(id string) int {
	return slices.IndexFunc(t.Children, func(c Child) bool { return c.Task == id })
}

// Stranded are the children that the task waits for and that are in the dead letters: unless somebody does something about them,
// it waits until its wait is over, if that ever ends.
func (t Task) Stranded() []Child {
	if t.State != event.Waiting || t.AtDesk() != nil {
		return nil
	}
	var stranded []Child
	for _, c := range t.Children {
		if c.Group == t.Awaits && c.State == event.Parked {
			stranded = append(stranded, c)
		}
	}
	return stranded
}

// MaxInvolved bounds the agents that a task remembers as having had a part in it.
const MaxInvolved = 4096

// MaxNotes is how many progress notes a task remembers of its present owner, and maxNotesText their bytes in all; the newest
// is remembered however long it is.
const (
	MaxNotes     = 20
	maxNotesText = 16 << 10
)

// note remembers a progress note.
func (t *Task) note(text string) {
	if n := len(t.Notes); n > 0 && t.Notes[n-1] == text {
		return
	}
	notes := append(slices.Clip(t.Notes), text)
	from, size := len(notes)-1, len(text)
	for from > 0 && len(notes)-from < MaxNotes && size+len(notes[from-1]) <= maxNotesText {
		from--
		size += len(notes[from])
	}
	t.Notes = notes[from:]
}

// involve notes that agents have a part in the task.
func (t *Task) involve(agents ...string) {
	for _, a := range agents {
		if a != "" && len(t.Involved) < MaxInvolved && !slices.Contains(t.Involved, a) {
			t.Involved = append(slices.Clip(t.Involved), a)
		}
	}
}

// Weight is about how many bytes the task takes in memory.
func (t Task) Weight() int {
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
		n += 128 + len(a.Question) + len(a.Answer)
	}
	return n + 32*(len(t.Involved)+len(t.Tags))
}
