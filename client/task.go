package client

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Timeouts are the clocks of a task and its handoffs. Zero fields mean the server's defaults, which are named here.
type Timeouts struct {
	Offer    Duration `json:"offer,omitzero"`    // an offer that is not seen; 10m
	Ack      Duration `json:"ack,omitzero"`      // from seen to answered; 15s
	Approval Duration `json:"approval,omitzero"` // a supervised handoff; 24h
	Answer   Duration `json:"answer,omitzero"`   // people who are asked something, or to take over, per desk; 24h
	Confirm  Duration `json:"confirm,omitzero"`  // an explicit confirm; 1m
	Lease    Duration `json:"lease,omitzero"`    // an owner that shows no life; 30m
	Progress Duration `json:"progress,omitzero"` // an owner that reports no progress, whatever life it shows; no end
	Wait     Duration `json:"wait,omitzero"`     // a parent that waits for children; no end
}

// Limits bound what can happen to a task. Zero fields mean the server's defaults, which are named here.
type Limits struct {
	Hops        int `json:"hops,omitzero"`        // changes of owner; 10
	Handoffs    int `json:"handoffs,omitzero"`    // requests, successful or not; 30
	Visits      int `json:"visits,omitzero"`      // times one agent may own it; 5
	Escalations int `json:"escalations,omitzero"` // 5
	Attempts    int `json:"attempts,omitzero"`    // recoveries from a lost owner; 3
	Tasks       int `json:"tasks,omitzero"`       // tasks that may come of it, all generations together; 1000
}

// Used is how much of the limits is gone.
type Used struct {
	Hops        int `json:"hops"`
	Handoffs    int `json:"handoffs"`
	Escalations int `json:"escalations"`
	Attempts    int `json:"attempts"`
	Tasks       int `json:"tasks,omitempty"` // made, or set aside for children to make; of a child, also what is its family's
	Base        int `json:"base,omitempty"`  // handoffs before the last replay
}

// Spend is an amount of what agents report: a budget, or what was used of it. Zero means not limited, or nothing.
type Spend struct {
	Tokens int64 `json:"tokens,omitzero"`
	Cost   int64 `json:"cost_micros,omitzero"` // millionths of the currency that the deployment counts in
}

// Constraint is a rule for the owner of the task. It can be tightened, never loosened.
type Constraint struct {
	ID     string         `json:"id"`
	Kind   ConstraintKind `json:"kind"`
	Text   string         `json:"text"`
	Hard   bool           `json:"hard,omitempty"`
	Max    *float64       `json:"max,omitempty"`    // tighter is smaller
	Allow  []string       `json:"allow,omitzero"`   // tighter is a subset; nil: anything; empty: nothing
	Origin string         `json:"origin,omitempty"` // the principal that set it; the server fills it in
}

// Expected is what a result must look like.
type Expected struct {
	Format   string          `json:"format,omitempty"`
	MaxBytes int             `json:"max_bytes,omitzero"`
	Criteria []string        `json:"criteria,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"` // a JSON Schema
}

// Result is what came of a task.
type Result struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	Code int             `json:"code,omitzero"` // exit code, where a program did the work
	// Review is what only a judge can check of it, as the task expects it; the server fills it in.
	Review []string `json:"review,omitempty"`
}

// Visit is one ownership on a task's path.
type Visit struct {
	Agent string `json:"agent"`
	Marks int    `json:"marks"` // of progress when the agent let go; -1 while it holds the task
}

// Dependency is a task that must complete before another can start.
type Dependency struct {
	Task  string `json:"task"`
	State State  `json:"state"`
}

// Parent links a child task to the task it works for.
type Parent struct {
	Task  string `json:"task,omitempty"`
	Index int    `json:"index,omitempty"`
	Await bool   `json:"await,omitempty"` // the parent wants to hear how it ends
}

// Child is a parent's record of a child task.
type Child struct {
	Task   string  `json:"task"`
	Index  int     `json:"index"`
	To     string  `json:"to"`
	Budget Spend   `json:"budget,omitzero"`
	State  State   `json:"state"`
	Tasks  int     `json:"tasks,omitempty"` // how many may come of it; once it has ended, how many have
	Group  int     `json:"group"`           // children of one spawn belong together
	Result *Result `json:"result,omitempty"`
	Why    string  `json:"why,omitempty"` // it failed, was called off or is in the dead letters
}

// FanIn says when the sender of a fan-out or a delegation resumes.
type FanIn struct {
	Mode   FanInMode `json:"mode"`
	Quorum int       `json:"quorum,omitzero"`
}

// Ask is an agent's wish to take a task over. Its owner approves or denies it by id.
type Ask struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// Share is an envelope given to an agent that does not own the task.
type Share struct {
	ID       string `json:"id"`
	To       string `json:"to"`
	From     string `json:"from"`
	Envelope string `json:"envelope"`
	Read     bool   `json:"read"`
}

// ParkedFor is why a task is in the dead-letter queue.
type ParkedFor struct {
	Cause  string    `json:"cause"` // exhausted, limit, budget, deadline, dependency, returned, owner_lost or nobody_claimed
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
}

// Task is everything about one task but its content.
type Task struct {
	ID           string       `json:"id"`
	State        State        `json:"state"`
	Intent       string       `json:"intent"`    // the original request
	Requester    string       `json:"requester"` // "agent/NAME", "operator/NAME", …
	Priority     Priority     `json:"priority"`
	Tags         []string     `json:"tags,omitempty"`
	Owner        string       `json:"owner,omitempty"`
	Epoch        uint64       `json:"epoch"`          // rises with every change of owner
	Lease        time.Time    `json:"lease,omitzero"` // until when the owner must show life
	Created      time.Time    `json:"created"`
	Deadline     time.Time    `json:"deadline,omitzero"`
	Ended        time.Time    `json:"ended,omitzero"`
	Timeouts     Timeouts     `json:"timeouts"`
	Limits       Limits       `json:"limits"`
	Used         Used         `json:"used"`
	Budget       Spend        `json:"budget,omitzero"`
	Spent        Spend        `json:"spent,omitzero"`
	Reserved     Spend        `json:"reserved,omitzero"` // held by children that have not ended
	Path         []Visit      `json:"path,omitempty"`
	Route        []string     `json:"route,omitempty"`
	Chain        Chain        `json:"chain,omitzero"` // where it stands in an escalation chain
	Constraints  []Constraint `json:"constraints,omitempty"`
	Permissions  []string     `json:"permissions,omitzero"` // nil: not restricted here; empty: none
	Dependencies []Dependency `json:"dependencies,omitempty"`
	Expected     Expected     `json:"expected,omitzero"`
	Envelope     string       `json:"envelope,omitempty"` // digest of the newest
	Handoff      *Handoff     `json:"handoff,omitempty"`  // the newest, under way or over
	Asks         []Ask        `json:"asks,omitempty"`
	Shares       []Share      `json:"shares,omitempty"`
	Ticket       *TaskTicket  `json:"ticket,omitempty"`  // what people were asked last, with their answer
	Answers      []Answer     `json:"answers,omitempty"` // of people, since the newest envelope was sealed
	Parent       Parent       `json:"parent,omitzero"`
	Children     []Child      `json:"children,omitempty"`
	FanIn        FanIn        `json:"fan_in,omitzero"`
	JoinBy       time.Time    `json:"join_by,omitzero"`
	Parked       *ParkedFor   `json:"parked,omitempty"`
	Progress     string       `json:"progress,omitempty"` // the newest note
	Result       *Result      `json:"result,omitempty"`
	Position     uint64       `json:"position"` // of its newest entry
}

// Stranded are the children that the task waits for and that are in the dead letters, each with why. An operator can replay such
// a child; called off with [Client.Cancel], it is no longer waited for.
func (t Task) Stranded() []Child {
	if k := t.Ticket; k != nil && k.Open() && (k.Kind != "takeover" || k.State == "open") {
		return nil // it waits for people
	}
	return slices.DeleteFunc(slices.Clone(t.Children), func(k Child) bool {
		return t.State != Waiting || k.Group != t.Children[len(t.Children)-1].Group || k.State != Parked
	})
}

// TaskRow is a task in a list.
type TaskRow struct {
	ID        string     `json:"id"`
	State     State      `json:"state"`
	Intent    string     `json:"intent"` // the first 200 characters
	Owner     string     `json:"owner,omitempty"`
	Epoch     uint64     `json:"epoch"`
	Requester string     `json:"requester"`
	Priority  Priority   `json:"priority"`
	Parent    string     `json:"parent,omitempty"`
	Handoff   string     `json:"handoff,omitempty"` // id of the newest
	Stage     Stage      `json:"stage,omitempty"`
	Kind      Kind       `json:"kind,omitempty"`
	To        []string   `json:"to,omitempty"` // who has the open offer
	Hops      int        `json:"hops"`
	Created   time.Time  `json:"created"`
	Updated   time.Time  `json:"updated"`
	Deadline  time.Time  `json:"deadline,omitzero"`
	Parked    *ParkedRow `json:"parked,omitempty"`
	Position  uint64     `json:"position"`
}

// ParkedRow is why and since when a listed task is in the dead-letter queue.
type ParkedRow struct {
	Cause  string    `json:"cause"`
	Detail string    `json:"detail"`
	Since  time.Time `json:"since"`
}

// TaskPage is one page of a list of tasks, newest first.
type TaskPage struct {
	Tasks    []TaskRow `json:"tasks"`
	Next     string    `json:"next,omitempty"` // TaskFilter.After of the next page; empty at the end
	Position uint64    `json:"position"`       // up to which the list is complete
}

// TaskFilter narrows a list of tasks. Zero fields do not.
type TaskFilter struct {
	State  State
	Live   bool   // not completed, failed or cancelled
	Owner  string // an agent
	Parent string // a task
	After  string // TaskPage.Next of the page before
	Limit  int    // at most 500; 0 means 50
}

// Receipt is the answer to a call that changes a task: how the task stands after it, and the position of its entry.
type Receipt struct {
	Task     string     `json:"task"`
	State    State      `json:"state"`
	Owner    string     `json:"owner,omitempty"`
	Epoch    uint64     `json:"epoch"`
	Handoff  string     `json:"handoff,omitempty"` // id of the newest handoff
	Stage    Stage      `json:"stage,omitempty"`
	Offer    int        `json:"offer,omitempty"`
	To       []string   `json:"to,omitempty"` // who has the open offer
	Children []string   `json:"children,omitempty"`
	Ask      string     `json:"ask,omitempty"`    // id of the ask to take over that the call made
	Share    string     `json:"share,omitempty"`  // id of the shared envelope that the call made
	Ticket   string     `json:"ticket,omitempty"` // id of the ticket that the call opened or is about
	Envelope string     `json:"envelope,omitempty"`
	Given    string     `json:"given,omitempty"` // digest of what the owner was given: that envelope, or what was packed of it
	Lease    time.Time  `json:"lease,omitzero"`
	Parked   *ParkedFor `json:"parked,omitempty"`
	Decision *Decision  `json:"decision,omitempty"` // of a handoff to Auto
	Position uint64     `json:"position"`
	Events   []string   `json:"events"`           // what this call recorded; none if nothing had to change
	Repeat   bool       `json:"repeat,omitempty"` // this is the answer to the first call with the same key
}

// SendInput hands a task off.
type SendInput struct {
	Epoch       uint64      `json:"epoch,omitempty"`
	To          []string    `json:"to,omitempty"`         // agents in order of preference; none: the next on the task's route; Auto alone: as the policy says
	Capability  string      `json:"capability,omitempty"` // what the receiver must be able to do
	Channel     string      `json:"channel,omitempty"`    // publish to its present subscribers, instead of naming receivers
	Kind        Kind        `json:"kind,omitempty"`       // empty: warm; with a channel, Broadcast
	FanOut      bool        `json:"fan_out,omitempty"`    // with Broadcast: every receiver gets a copy
	FanIn       FanIn       `json:"fan_in,omitzero"`
	Reason      Reason      `json:"reason,omitempty"` // empty: user_request
	Detail      string      `json:"detail,omitempty"`
	Content     Content     `json:"content,omitzero"`
	Confirm     ConfirmMode `json:"confirm,omitempty"` // empty: auto
	Timeouts    Timeouts    `json:"timeouts,omitzero"`
	Retries     *int        `json:"retries,omitempty"` // unanswered offers after the first; nil: 3
	ReturnHome  bool        `json:"return_home,omitempty"`
	Approver    string      `json:"approver,omitempty"` // of a supervised handoff; empty: any operator
	Permissions []string    `json:"permissions,omitempty"`
	Budget      Spend       `json:"budget,omitzero"` // of each child
	Expected    Expected    `json:"expected,omitzero"`
	Pack        Pack        `json:"pack,omitzero"`
	// Constraints that the task gets first, in the same decision; each needs an id of its own. See [ParseConstraint].
	Constraints []Constraint `json:"constraints,omitempty"`
}

// CancelInput calls a task off, or takes a handoff back.
type CancelInput struct {
	Epoch  uint64 `json:"epoch,omitempty"` // 0, for a task: that of its present owner
	Detail string `json:"detail,omitempty"`
}

// Chain is where a task stands in an escalation chain.
type Chain struct {
	Name  string `json:"name"`            // empty: the task was not escalated along one
	Level int    `json:"level"`           // the highest that was asked, from 1
	Agent string `json:"agent,omitempty"` // of that level, that took it; empty: none did
}

// Tasks lists the tasks that the token may see, newest first.
func (c *Client) Tasks(ctx context.Context, f TaskFilter) (TaskPage, error) {
	return ask[TaskPage](ctx, c, http.MethodGet, path("tasks"), f.query(), nil)
}

func (f TaskFilter) query() wire.Query {
	q := wire.Query{}
	q.Text("state", string(f.State))
	q.Text("owner", f.Owner)
	q.Text("parent", f.Parent)
	q.Text("after", f.After)
	q.Flag("live", f.Live)
	q.Number("limit", f.Limit)
	return q
}

// Task shows one task. The read is recorded.
func (c *Client) Task(ctx context.Context, id string) (Task, error) {
	return c.WaitTask(ctx, id, 0, 0)
}

// WaitTask shows one task, as it is when it has an entry after a position, its Position as the caller knows it, or when wait is
// over, at most [MaxWait]. After 0 it waits until the task is completed, failed, cancelled or parked. The read is recorded.
func (c *Client) WaitTask(ctx context.Context, id string, after uint64, wait time.Duration) (t Task, err error) {
	q := wire.Query{}
	q.Position("after", after)
	err = c.await(ctx, path("tasks", id), q, wait, &t)
	return t, err
}

// Dead lists the tasks in the dead-letter queue, newest first. The filter's State and Live do not count.
func (c *Client) Dead(ctx context.Context, f TaskFilter) (TaskPage, error) {
	f.State, f.Live = "", false
	return ask[TaskPage](ctx, c, http.MethodGet, path("dead"), f.query(), nil)
}
