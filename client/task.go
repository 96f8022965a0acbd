package client

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// State is where a task is in its life.
type State string

// The states of a task. The last three are final.
const (
	Pending    State = "pending"     // it has no owner; its requester is the source
	Executing  State = "executing"   // its owner works on it
	HandingOff State = "handing_off" // a handoff is under way; the source still owns it
	Waiting    State = "waiting"     // for the results of child tasks
	Parked     State = "parked"      // in the dead letters
	Completed  State = "completed"
	Failed     State = "failed"
	Cancelled  State = "cancelled"
)

// States lists every state of a task.
func States() []State {
	return []State{Pending, Executing, HandingOff, Waiting, Parked, Completed, Failed, Cancelled}
}

// Final reports whether nothing can happen to a task in this state any more.
func (s State) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// Priority orders every inbox.
type Priority string

// The priorities, lowest first.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

// Priorities lists every priority, lowest first.
func Priorities() []Priority { return []Priority{Low, Normal, High, Urgent} }

// Timeouts are how long the clocks of a task and its handoffs run. Zero fields mean the defaults, given here.
type Timeouts struct {
	Offer    Duration `json:"offer,omitzero"`    // of an offer that nobody has seen; 10m
	Ack      Duration `json:"ack,omitzero"`      // from seen to answered; 15s, at least 5s
	Approval Duration `json:"approval,omitzero"` // of a supervised handoff; 24h
	Answer   Duration `json:"answer,omitzero"`   // of people: for an answer, or to take a task over, per desk; of a requester, to take up a task that came back; 24h
	Confirm  Duration `json:"confirm,omitzero"`  // of an explicit confirm; 1m
	Lease    Duration `json:"lease,omitzero"`    // of an owner that sends no sign of life; 30m
	Progress Duration `json:"progress,omitzero"` // of an owner that reports no progress; no end
	Wait     Duration `json:"wait,omitzero"`     // of a parent that waits for children; no end
}

// Limits bound what can happen to a task. Zero fields mean the defaults, given here.
type Limits struct {
	Hops        int `json:"hops,omitzero"`        // changes of owner; 10
	Handoffs    int `json:"handoffs,omitzero"`    // requests, successful or not; 30
	Visits      int `json:"visits,omitzero"`      // times one agent may own it; 5
	Escalations int `json:"escalations,omitzero"` // 5
	Attempts    int `json:"attempts,omitzero"`    // recoveries from a lost owner; 3
	Tasks       int `json:"tasks,omitzero"`       // descendants, all generations together; 1000
}

// Used is how much of the limits is used up.
type Used struct {
	Hops        int `json:"hops"`
	Handoffs    int `json:"handoffs"`
	Escalations int `json:"escalations"`
	Attempts    int `json:"attempts"`
	Tasks       int `json:"tasks,omitempty"`  // made, or reserved for children to make; a child counts those of its family too
	Base        int `json:"base,omitempty"`   // handoffs before the last replay
	Before      int `json:"before,omitempty"` // changes of owner before the last replay
}

// Spend is a budget, or an amount spent, as agents report it. As a budget, zero means not limited.
type Spend struct {
	Tokens int64 `json:"tokens,omitzero"`
	Cost   int64 `json:"cost_micros,omitzero"` // millionths of the currency that the deployment counts in
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

	Requester string `json:"requester,omitempty"` // of the root of the tree of tasks
}

// Child is a parent's record of a child task.
type Child struct {
	Task   string  `json:"task"`
	Index  int     `json:"index"`
	To     string  `json:"to"`
	Budget Spend   `json:"budget,omitzero"`
	State  State   `json:"state"`
	Tasks  int     `json:"tasks,omitempty"` // the most descendants that it may have; once it has ended, how many it had
	Group  int     `json:"group"`           // children of one spawn belong together
	Result *Result `json:"result,omitempty"`
	Why    string  `json:"why,omitempty"` // it failed, was cancelled or is in the dead letters
}

// TakeoverRequest is the request of an agent to take a task over. Its owner approves or denies it by id.
type TakeoverRequest struct {
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

// ParkedFor says why a task is in the dead letters.
type ParkedFor struct {
	Cause  string    `json:"cause"` // exhausted, limit, budget, deadline, dependency, returned, owner_lost or nobody_claimed
	Detail string    `json:"detail"`
	At     time.Time `json:"at"`
}

// ParkCauses lists the values of [ParkedFor].Cause.
func ParkCauses() []string {
	return []string{"exhausted", "limit", "budget", "deadline", "dependency", "returned", "owner_lost", "nobody_claimed"}
}

// Task is everything about one task but its content.
type Task struct {
	ID           string            `json:"id"`
	State        State             `json:"state"`
	Intent       string            `json:"intent"`    // the original request
	Requester    string            `json:"requester"` // an agent by its name, anybody else as "operator/NAME", …
	Priority     Priority          `json:"priority"`
	Tags         []string          `json:"tags,omitempty"`
	Subject      string            `json:"subject,omitempty"`      // that its content is about, by which it can be erased
	Conversation string            `json:"conversation,omitempty"` // id of the one that it belongs to
	Owner        string            `json:"owner,omitempty"`
	Epoch        uint64            `json:"epoch"`          // rises with every change of owner
	Lease        time.Time         `json:"lease,omitzero"` // until when the owner must send a sign of life
	Created      time.Time         `json:"created"`
	Deadline     time.Time         `json:"deadline,omitzero"`
	Ended        time.Time         `json:"ended,omitzero"`
	Timeouts     Timeouts          `json:"timeouts"`
	Limits       Limits            `json:"limits"`
	Used         Used              `json:"used"`
	Budget       Spend             `json:"budget,omitzero"`
	Spent        Spend             `json:"spent,omitzero"`
	Reserved     Spend             `json:"reserved,omitzero"` // held by children that have not ended
	Path         []Visit           `json:"path,omitempty"`    // every owner in turn, also before a replay
	Route        []string          `json:"route,omitempty"`
	Chain        Chain             `json:"chain,omitzero"` // where it stands in an escalation chain
	Constraints  []Constraint      `json:"constraints,omitempty"`
	Permissions  []string          `json:"permissions,omitzero"` // nil: not restricted here; empty: none
	Dependencies []Dependency      `json:"dependencies,omitempty"`
	Expected     Expected          `json:"expected,omitzero"`
	Envelope     string            `json:"envelope,omitempty"` // digest of the newest
	Handoff      *Handoff          `json:"handoff,omitempty"`  // the newest, under way or over
	Takeovers    []TakeoverRequest `json:"asks,omitempty"`
	Shares       []Share           `json:"shares,omitempty"`
	Ticket       *TaskTicket       `json:"ticket,omitempty"`  // the last question to people, with their answer
	Answers      []Answer          `json:"answers,omitempty"` // of people, since the newest envelope was sealed
	Parent       Parent            `json:"parent,omitzero"`
	Children     []Child           `json:"children,omitempty"`
	NotReached   map[string]string `json:"not_reached,omitempty"` // who should have got one of the newest children, and why it could not be reached
	FanIn        FanIn             `json:"fan_in,omitzero"`
	JoinBy       time.Time         `json:"join_by,omitzero"`
	TakeUpBy     time.Time         `json:"take_up_by,omitzero"` // when its requester must have taken up a task that came back and that nobody owns
	Parked       *ParkedFor        `json:"parked,omitempty"`    // why it is in the dead letters, or was when it ended; a replay ends it
	Progress     string            `json:"progress,omitempty"`  // the newest note
	Result       *Result           `json:"result,omitempty"`
	Position     uint64            `json:"position"` // of its newest entry
}

// Stranded lists the children in the dead letters that the task waits for, each with the reason, until they are replayed or cancelled.
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
	To        []string   `json:"to,omitempty"` // receivers of the open offer
	Hops      int        `json:"hops"`
	Created   time.Time  `json:"created"`
	Updated   time.Time  `json:"updated"`
	Deadline  time.Time  `json:"deadline,omitzero"`
	Parked    *ParkedRow `json:"parked,omitempty"`
	Position  uint64     `json:"position"`
}

// ParkedRow is why and since when a listed task is in the dead letters.
type ParkedRow struct {
	Cause  string    `json:"cause"`
	Detail string    `json:"detail"`
	Since  time.Time `json:"since"`
	Route  []string  `json:"route,omitempty"` // agents that the task still visits, the next first
}

// TaskPage is one page of a list of tasks, in the order of their ids, the highest first. That is the newest first where they were made with keys of
// [NewKey], or other UUIDs of version 7; other idempotency keys give ids in any order.
type TaskPage struct {
	Tasks    []TaskRow `json:"tasks"`
	Next     string    `json:"next,omitempty"` // TaskFilter.After of the next page; empty at the end
	Position uint64    `json:"position"`       // up to which the list is complete

	Counts map[State]int `json:"counts,omitempty"` // with TaskFilter.Counts
}

// TaskFilter narrows a list of tasks. Zero fields do not.
type TaskFilter struct {
	State  State
	Live   bool   // not completed, failed or cancelled
	Owner  string // an agent
	Parent string // a task
	Deep   bool   // also the children of its children, to five below it
	Text   string // words that each task has in the beginning of its intent, its id, its requester, its owner or its receivers
	Words  string // words that each task has there or in what the token may read of its content; TaskPage.Next goes on with others, also where none is listed
	After  string // TaskPage.Next of the page before
	Limit  int    // at most 500; 0 means 50
	Counts bool   // also count the tasks on all pages, by state

	Since, Until time.Time // when the task last changed: not before, and before
	IDs          []string  // at most 500: only these tasks; without Parent
}

// Chain is the place of a task in an escalation chain.
type Chain struct {
	Name  string `json:"name"`            // empty: the task was not escalated along one
	Level int    `json:"level"`           // the highest level that was asked, from 1
	Agent string `json:"agent,omitempty"` // of that level, that took it; empty: none did
}

// Tasks lists the tasks that the token may see.
func (c *Client) Tasks(ctx context.Context, f TaskFilter) (TaskPage, error) {
	return ask[TaskPage](ctx, c, http.MethodGet, path("tasks"), f.query(), nil)
}

func (f TaskFilter) query() wire.Query {
	q := wire.Query{}
	q.Texts("state", string(f.State), "owner", f.Owner, "parent", f.Parent, "text", f.Text, "words", f.Words, "after", f.After, "ids", strings.Join(f.IDs, ","))
	q.Flags(map[string]bool{"live": f.Live, "counts": f.Counts, "deep": f.Deep})
	q.Times("since", f.Since, "until", f.Until)
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

// Dead lists the tasks in the dead letters: at most limit of them, 50 if it is 0 and 500 at most, after the Next of the page before or
// from the start. [Client.Tasks] filters them, by [Parked] and more.
func (c *Client) Dead(ctx context.Context, after string, limit int) (TaskPage, error) {
	return ask[TaskPage](ctx, c, http.MethodGet, path("dead"), TaskFilter{After: after, Limit: limit}.query(), nil)
}
