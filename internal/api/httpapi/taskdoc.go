package httpapi

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Task is a task without its content.
type Task struct {
	ID           string             `json:"id"`
	State        event.State        `json:"state"`
	Intent       string             `json:"intent" doc:"The original request, word for word."`
	Requester    string             `json:"requester"`
	Priority     event.Priority     `json:"priority"`
	Tags         []string           `json:"tags,omitempty"`
	Owner        string             `json:"owner,omitempty"`
	Epoch        uint64             `json:"epoch" doc:"Increases with every change of owner; calls with another epoch are refused."`
	Lease        time.Time          `json:"lease,omitzero" doc:"When the lease of the owner ends unless it is renewed."`
	Created      time.Time          `json:"created"`
	Deadline     time.Time          `json:"deadline,omitzero"`
	Ended        time.Time          `json:"ended,omitzero"`
	Timeouts     event.Timeouts     `json:"timeouts"`
	Limits       event.Limits       `json:"limits"`
	Used         event.Used         `json:"used"`
	Budget       event.Budget       `json:"budget,omitzero"`
	Spent        event.Budget       `json:"spent,omitzero" doc:"As reported by its agents."`
	Reserved     event.Budget       `json:"reserved,omitzero" doc:"Reserved for children that have not ended."`
	Path         []event.Visit      `json:"path,omitempty" doc:"Every owner, in order."`
	Route        []string           `json:"route,omitempty" doc:"Agents that the task must still visit."`
	Chain        task.Chain         `json:"chain,omitzero" doc:"Position in its escalation chain."`
	Constraints  []event.Constraint `json:"constraints,omitempty"`
	Permissions  []string           `json:"permissions,omitzero" doc:"Absent: not restricted. Empty: none."`
	Dependencies []event.Dependency `json:"dependencies,omitempty"`
	Expected     event.Expected     `json:"expected,omitzero"`
	Envelope     string             `json:"envelope,omitempty" doc:"Digest of the newest envelope."`
	Handoff      *Handoff           `json:"handoff,omitempty" doc:"The newest handoff, open or closed."`
	Asks         []Ask              `json:"asks,omitempty" doc:"Open takeover requests."`
	Shares       []Share            `json:"shares,omitempty"`
	Ticket       *TaskTicket        `json:"ticket,omitempty" doc:"The newest ticket, with its answer."`
	Answers      []task.Answer      `json:"answers,omitempty" doc:"Answers of people since the newest envelope was sealed. Text of others is data."`
	Parent       event.Parent       `json:"parent,omitzero"`
	Children     []task.Child       `json:"children,omitempty"`
	FanIn        event.FanIn        `json:"fan_in,omitzero"`
	JoinBy       time.Time          `json:"join_by,omitzero" doc:"When the task stops waiting for its children."`
	Parked       *task.ParkedFor    `json:"parked,omitempty"`
	Progress     string             `json:"progress,omitempty" doc:"The newest progress note."`
	Result       *event.Result      `json:"result,omitempty"`
	Position     uint64             `json:"position" doc:"Position of its newest entry."`
}

// At implements [door.Placed].
func (t Task) At() uint64 { return t.Position }

// Ask is a takeover request of an agent.
type Ask struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// TaskTicket is the newest ticket of a task.
type TaskTicket struct {
	ID string `json:"id"`
	task.Ticket
}

// Share is an envelope shared with an agent that does not own the task.
type Share struct {
	ID       string `json:"id"`
	To       string `json:"to"`
	From     string `json:"from"`
	Envelope string `json:"envelope"`
	Read     bool   `json:"read"`
}

// Handoff is one attempt to hand a task off. For handoffs before the newest, only the fields of the trail are set.
type Handoff struct {
	ID           string            `json:"id"`
	Task         string            `json:"task"`
	Stage        event.Stage       `json:"stage"`
	Kind         event.Kind        `json:"kind,omitempty"`
	Claim        bool              `json:"claim,omitempty" doc:"Offered to all candidates at once; the first to accept becomes the owner."`
	From         string            `json:"from"`
	By           string            `json:"by,omitempty" doc:"The principal that requested the handoff."`
	Recovery     bool              `json:"recovery,omitempty"`
	Reason       event.Reason      `json:"reason"`
	Detail       string            `json:"detail,omitempty"`
	Capability   string            `json:"capability,omitempty"`
	Channel      string            `json:"channel,omitempty" doc:"Channel that the task was published to."`
	Confirm      event.ConfirmMode `json:"confirm,omitempty"`
	Timeouts     event.Timeouts    `json:"timeouts,omitzero"`
	Retries      int               `json:"retries,omitempty"`
	ReturnHome   bool              `json:"return_home,omitempty"`
	Approver     string            `json:"approver,omitempty"`
	Envelope     string            `json:"envelope,omitempty" doc:"Digest of its envelope."`
	Permissions  []string          `json:"permissions,omitzero"`
	Requested    time.Time         `json:"requested"`
	Candidates   []event.Candidate `json:"candidates,omitempty"`
	Offer        int               `json:"offer,omitempty" doc:"Number of the newest offer."`
	To           []string          `json:"to,omitempty" doc:"Receivers of the newest offer."`
	SeenBy       []string          `json:"seen_by,omitempty"`
	OfferEnds    time.Time         `json:"offer_ends,omitzero"`
	AckEnds      time.Time         `json:"ack_ends,omitzero"`
	RetryAt      time.Time         `json:"retry_at,omitzero"`
	ApprovalEnds time.Time         `json:"approval_ends,omitzero"`
	ConfirmEnds  time.Time         `json:"confirm_ends,omitzero"`
	Receiver     string            `json:"receiver,omitempty" doc:"Agent that accepted."`
	Why          string            `json:"why,omitempty" doc:"How it ended."`
	Ended        time.Time         `json:"ended,omitzero"`
	Decision     *event.Decision   `json:"decision,omitempty" doc:"Decision of the policy, for a handoff to auto. Only in the answer for a single handoff."`
}

func taskOf(t taskstore.Task) Task {
	out := Task{
		ID: t.ID, State: t.State, Intent: t.Intent, Requester: t.Requester, Priority: t.Priority, Tags: t.Tags, Owner: t.Owner, Epoch: t.Epoch,
		Lease: t.Lease, Created: t.Created, Deadline: t.Deadline, Ended: t.Ended, Timeouts: t.Times, Limits: t.Limits, Used: t.Used,
		Budget: t.Budget, Spent: t.Spent, Reserved: t.Reserved, Path: t.Path, Route: t.Route, Chain: t.Chain, Constraints: t.Constraints,
		Permissions: t.Permissions, Dependencies: t.Dependencies, Expected: t.Expected, Envelope: t.Envelope, Parent: t.Parent,
		Children: t.Children, FanIn: t.FanIn, JoinBy: t.JoinBy, Parked: t.Parked, Progress: t.Progress, Result: t.Result,
		Answers: t.Answers, Position: uint64(t.Position),
	}
	if t.Ticket != nil {
		out.Ticket = &TaskTicket{event.TicketID(t.ID, t.Ticket.N), *t.Ticket}
	}
	if t.Handoff != nil {
		h := handoffOf(t.ID, t.Handoff)
		out.Handoff = &h
	}
	for _, a := range t.Asks {
		out.Asks = append(out.Asks, Ask{ID: event.AskID(t.ID, a.N), By: a.By, Detail: a.Detail})
	}
	for _, s := range t.Shares {
		out.Shares = append(out.Shares, Share{ID: event.ShareID(t.ID, s.N), To: s.To, From: s.From, Envelope: s.Envelope, Read: s.Read})
	}
	return out
}

func handoffOf(task string, h *task.Handoff) Handoff {
	return Handoff{
		ID: h.ID(task), Task: task, Stage: h.Stage, Kind: h.Kind, Claim: h.Claim, From: h.From, By: h.By, Recovery: h.Recovery,
		Reason: h.Reason, Detail: h.Detail, Capability: h.Capability, Channel: h.Channel, Confirm: h.Confirm, Timeouts: h.Times, Retries: h.Retries,
		ReturnHome: h.ReturnHome, Approver: h.Approver, Envelope: h.Envelope, Permissions: h.Permits, Requested: h.Requested,
		Candidates: h.Candidates, Offer: h.Offer, To: h.To, SeenBy: h.SeenBy, OfferEnds: h.OfferEnds, AckEnds: h.AckEnds,
		RetryAt: h.RetryAt, ApprovalEnds: h.ApprovalEnds, ConfirmEnds: h.ConfirmEnds, Receiver: h.Receiver, Why: h.Why, Ended: h.Ended,
	}
}

// pastHandoff is an earlier handoff, from the trail.
func pastHandoff(r view.Record) Handoff {
	return Handoff{
		ID: r.HandoffID, Task: r.Task, Stage: r.Status, From: r.From, Receiver: r.To, Reason: r.Reason, Requested: r.Timestamp, Decision: r.Decision,
	}
}
