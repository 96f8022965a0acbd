package mcpapi

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
)

type sendInput struct {
	Task       string           `json:"task,omitempty" jsonschema:"id of a task you own; or give intent"`
	Intent     string           `json:"intent,omitempty" jsonschema:"creates a new task: the original request, word for word"`
	To         argument.List    `json:"to,omitempty" jsonschema:"agents in order of preference; or auto (the policy decides); or human:DESK"`
	Capability string           `json:"capability,omitempty" jsonschema:"any agent with this capability"`
	Channel    string           `json:"channel,omitempty" jsonschema:"the subscribers of this channel"`
	Kind       client.Kind      `json:"kind,omitempty" jsonschema:"warm: full context (default). cold: description, and what operators pinned. supervised: an approver must agree first. broadcast: the first to accept gets it. delegation: you wait and get the result back"`
	FanOut     bool             `json:"fan_out,omitempty" jsonschema:"with broadcast: every receiver gets a copy"`
	FanIn      client.FanInMode `json:"fan_in,omitempty" jsonschema:"which results to wait for"`
	Quorum     int              `json:"quorum,omitempty"`
	Reason     client.Reason    `json:"reason,omitempty" except:"recovery,load_shedding"`
	Detail     string           `json:"detail,omitempty" jsonschema:"the reason in words"`
	enclosed
	Constraints argument.List `json:"constraints,omitempty" jsonschema:"bind every later owner: KIND:TEXT, or KIND!:TEXT for a hard constraint; TEXT alone is a prohibition (never, do not) or a preference. KIND: {constraint kinds}"`
	wanted
	fresh
	handedFully
	taskFully
	Budget    int    `json:"budget,omitempty" jsonschema:"maximum tokens of the receiver's context"`
	Approver  string `json:"approver,omitempty" jsonschema:"for supervised; default: any operator"`
	Confirm   bool   `json:"confirm,omitempty" jsonschema:"the receiver owns the task only after you confirm with {decide}"`
	ShareOnly bool   `json:"share_only,omitempty" jsonschema:"give one agent the context only; you keep the task"`
	Epoch     uint64 `json:"epoch,omitempty"`
	Key       string `json:"key,omitempty" jsonschema:"any id: a repeated call with the same key takes effect once"`
}

// wanted is what the result must satisfy.
type wanted struct {
	Criteria argument.List   `json:"criteria,omitempty" jsonschema:"criteria that a good result meets"`
	Schema   json.RawMessage `json:"result_schema,omitempty" jsonschema:"JSON Schema of the result's data"`
}

func (w wanted) empty() bool { return len(w.Criteria) == 0 && len(w.Schema) == 0 }

// fresh has the arguments that only a new task takes.
type fresh struct {
	Priority     client.Priority `json:"priority,omitempty"`
	Deadline     argument.Moment `json:"deadline,omitzero" jsonschema:"such as 2026-01-31T15:00:00Z"`
	Conversation string          `json:"conversation,omitempty" jsonschema:"name or id of a conversation to include, condensed"`
	Tags         argument.List   `json:"tags,omitempty" jsonschema:"tags for the policy rules"`
	freshFully
}

func (f fresh) empty() bool {
	return f.Priority == "" && f.Deadline.At.IsZero() && f.Conversation == "" && len(f.Tags) == 0 && f.freshFully.empty()
}

// sentAnswer is a receipt, and the results that a sender has waited for.
type sentAnswer struct {
	receipt
	Results []show.Child `json:"results,omitempty"`
}

var sendTool = define[sendInput, sentAnswer]("send", "Hand a task off", tool.Changes,
	"Hand off a task: one you own (task) or a new one (intent). Without to, capability or channel, a new task stays with you. You own the task until a receiver accepts it. Report progress before you send a task back to a previous owner: without progress it counts as a loop, and the task is stopped.",
	func(ctx context.Context, c *call, in sendInput) (answer, error) {
		ctx = tool.Keyed(ctx, in.Key)
		switch {
		case (in.Task == "") == (in.Intent == ""):
			return answer{}, c.Invalid("{send} needs either task (one you own) or intent (to make a new one)")
		case in.ShareOnly:
			return c.share(ctx, in)
		}
		send, there, err := in.handoff(ctx, c)
		if err != nil {
			return answer{}, err
		}
		switch {
		case in.Intent != "" && len(in.Dependencies) > 0:
			return c.later(ctx, in, send)
		case in.Intent != "" && !there && len(in.Route) == 0:
			return c.keep(ctx, in, send)
		}
		r, err := c.send(ctx, in, send)
		if err != nil {
			return answer{}, err
		}
		return c.sentOff(ctx, r, send)
	})

// keep creates a task that its creator owns.
func (c *call) keep(ctx context.Context, in sendInput, send client.SendInput) (answer, error) {
	switch {
	case !in.handedFully.empty():
		return answer{}, invalid("retries, return_home, strategy and pins describe a handoff: name a receiver with to, capability or channel, or omit them")
	case in.handsOff():
		return answer{}, invalid("kind, fan_out, fan_in, quorum, approver, reason, budget and confirm describe a handoff: name a receiver with to, capability or channel, or omit them")
	}
	task, err := in.create(send)
	if err != nil {
		return answer{}, err
	}
	task.Start, task.Content = true, send.Content
	r, err := c.CreateTask(ctx, task)
	c.Session.Hold(r.Task, r.Epoch)
	return tool.Changed(r, err, "The task was created, and you own it.", c.Say("work on it, then call {complete|send}"))
}

// create returns the input that creates the task, without the handoff. Constraints and expected result belong to the task and not to
// the handoff; but if other agents do child tasks of it, the expected result is that of each child.
func (in sendInput) create(send client.SendInput) (client.CreateInput, error) {
	out := client.CreateInput{
		Intent: in.Intent, Priority: in.Priority, Deadline: in.Deadline.At, Conversation: in.Conversation, Tags: in.Tags, Subject: in.Subject, Constraints: send.Constraints,
		Route: in.Route, Dependencies: in.Dependencies, Limits: in.limits(), Permissions: in.Permissions.Values(), Budget: in.budget(), Timeouts: in.timeouts(),
	}
	if !in.delegates() {
		out.Expected = in.expected()
	}
	if in.Deadline.FromNow && in.Key != "" { // a repeated call would have another deadline, and be refused
		return out, invalid("deadline is a time from now, and with key a repeated call must say the same: write it as 2026-01-31T15:00:00Z")
	}
	return out, nil
}

// send hands off an existing task, or a task that the same call creates.
func (c *call) send(ctx context.Context, in sendInput, send client.SendInput) (client.Receipt, error) {
	if in.Intent != "" {
		task, err := in.create(send)
		if err != nil {
			return client.Receipt{}, err
		}
		send.Constraints, task.Send = nil, &send // these and the rest are the task's
		r, err := c.CreateTask(ctx, task)
		if err != nil || r.State != client.Pending || r.Handoff != "" || len(r.Children) > 0 { // copies whose results nobody waits for leave it pending
			return r, err
		}
		return c.start(ctx, r)
	}
	switch {
	case !in.freshFully.empty():
		return client.Receipt{}, invalid("route, dependencies and limits are set when a task is created, with intent: omit them")
	case !in.fresh.empty():
		return client.Receipt{}, invalid("priority, deadline, conversation and tags are set when a task is created, with intent: omit them")
	case !in.delegates() && (in.Format != "" || in.MaxBytes != 0):
		return client.Receipt{}, invalid("format and max_bytes are set when a task is created, with intent, or for the child tasks of others (kind=delegation, fan_out): omit them")
	case !in.delegates() && !in.wanted.empty():
		return client.Receipt{}, invalid("criteria and result_schema are set when a task is created, with intent, or for the child tasks of others (kind=delegation, fan_out): omit them, or write them into ask")
	}
	send.Permissions, send.Budget, send.Timeouts = in.Permissions.Values(), in.budget(), in.timeouts()
	var err error
	if send.Epoch, err = c.Session.Epoch(ctx, in.Task, in.Epoch); err != nil {
		return client.Receipt{}, err
	}
	return c.Send(ctx, in.Task, send)
}

// start makes the creator the owner of a new task that the policy did not hand off. It is idempotent: a caller that repeats a send
// whose answer was lost gets the same answer. People do not own tasks: a task created by a person stays pending.
func (c *call) start(ctx context.Context, made client.Receipt) (client.Receipt, error) {
	if made.Decision == nil { // the answer to a repeated call has no decision
		made.Decision = &client.Decision{Action: keep}
	}
	r, err := c.Start(client.WithKey(ctx, "start "+made.Task), made.Task)
	if errors.Is(err, client.NotOwner) {
		return made, nil
	}
	c.Session.Hold(r.Task, r.Epoch)
	r.Decision = made.Decision
	return r, err
}

// keep is the action of a policy decision that leaves a task with its owner.
const keep = "keep"

func kept(r client.Receipt) bool { return r.Decision != nil && r.Decision.Action == keep }

// handoff returns how to hand the task off, and whether a receiver was named.
func (in sendInput) handoff(ctx context.Context, c *call) (send client.SendInput, there bool, err error) {
	content, err := in.content(ctx, c)
	if err != nil {
		return send, false, err
	}
	send = client.SendInput{
		To: in.To, Capability: in.Capability, Channel: in.Channel, Kind: in.Kind, FanOut: in.FanOut, Reason: in.Reason,
		Detail: in.Detail, Content: content, Pack: in.pack(), Approver: in.Approver,
		FanIn:      client.FanIn{Mode: in.FanIn, Quorum: in.Quorum},
		ReturnHome: in.ReturnHome,
	}
	if in.Quorum != 0 && in.FanIn == "" {
		send.FanIn.Mode = client.FanInQuorum
	}
	if send.Retries, err = in.Retries.Whole("retries"); err != nil {
		return send, false, err
	}
	if in.Confirm {
		send.Confirm = client.ConfirmExplicit
	}
	if in.delegates() {
		send.Expected = in.expected()
	}
	if send.Constraints, err = argument.Constraints(in.Constraints); err != nil {
		err = invalid("constraints: %s", err)
	}
	return send, len(in.To) > 0 || in.Capability != "" || in.Channel != "", err
}

// delegates reports whether other agents do the task, or child tasks of it, while its owner waits for their results.
func (in sendInput) delegates() bool { return in.FanOut || in.Kind == client.Delegation }

// handsOff reports whether an argument was given that only a handoff has.
func (in sendInput) handsOff() bool {
	return in.Kind != "" || in.FanOut || in.FanIn != "" || in.Quorum != 0 || in.Reason != "" || in.Budget != 0 || in.Confirm || in.Approver != "" ||
		!in.handedFully.empty()
}

// pack is how the envelope is packed for the receiver.
func (in sendInput) pack() client.Pack {
	return client.Pack{Tokens: in.Budget, Strategy: in.Strategy, Pinned: in.Pins}
}

// expected is what the result must satisfy.
func (in sendInput) expected() client.Expected {
	return client.Expected{Criteria: in.Criteria, Schema: in.Schema, Format: in.Format, MaxBytes: in.MaxBytes}
}

func (c *call) share(ctx context.Context, in sendInput) (answer, error) {
	if in.Task == "" || len(in.To) != 1 || in.Capability != "" || in.Channel != "" {
		return answer{}, invalid("share_only needs task, and exactly one agent in to: omit capability and channel")
	}
	if in.Retries.Value != nil || in.ReturnHome || !in.taskFully.empty() {
		return answer{}, invalid("share_only does not hand the task off or change it: omit retries, return_home, permissions, budgets, format, max_bytes and timeouts")
	}
	if in.Kind != "" || in.FanOut || in.FanIn != "" || in.Quorum != 0 || in.Confirm || in.Approver != "" {
		return answer{}, invalid("with share_only you keep the task: omit kind, fan_out, fan_in, quorum, approver and confirm")
	}
	if len(in.Constraints) > 0 || !in.wanted.empty() || !in.fresh.empty() {
		return answer{}, invalid("share_only does not change the task: omit constraints, criteria, result_schema, priority, deadline, conversation and tags")
	}
	epoch, err := c.Session.Epoch(ctx, in.Task, in.Epoch)
	if err != nil {
		return answer{}, err
	}
	content, err := in.content(ctx, c)
	if err != nil {
		return answer{}, err
	}
	r, err := c.Share(ctx, in.Task, client.ShareInput{Epoch: epoch, To: in.To[0], Detail: in.Detail, Content: content, Pack: in.pack()})
	return tool.Changed(r, err, "The context was shared with "+in.To[0]+".", "")
}

// sentOff answers a handoff. If the sender waits for results and its client supports the Tasks extension, the answer is a handle.
func (c *call) sentOff(ctx context.Context, r client.Receipt, in client.SendInput) (answer, error) {
	if r.State == client.Parked {
		return c.halted(ctx, r), nil
	}
	if r.State == client.Waiting && len(r.Children) > 0 && taskext.Supported(ctx) {
		handle, err := c.handleOf(ctx, r)
		if err != nil {
			return answer{}, err
		}
		taskext.Later(ctx, handle)
	}
	return c.sent(r, in), nil
}

// halted answers a handoff that a limit stopped: nothing was offered, and the task is in the dead letters.
func (c *call) halted(ctx context.Context, r client.Receipt) answer {
	t, err := c.Task(ctx, r.Task)
	if err != nil || t.State != client.Parked || t.Parked == nil {
		return tool.Told(r, "Nothing was handed off.", c.Say("{status} with id=%s shows why", r.Task))
	}
	return tool.Told(r, "Nothing was handed off: "+show.Line(t.Parked.Cause+": "+t.Parked.Detail)+". What you gave with it is kept, and goes along when the task is replayed.", tool.NextOf(c.Set, t, 0))
}

func (c *call) sent(r client.Receipt, in client.SendInput) answer {
	follow := c.Say("{status} with id=%s, wait=45, after=%d shows ", r.Task, r.Position)
	did, next := "The handoff is recorded.", follow+"who accepts it; until then you own it"
	if r.Owner == "" {
		next = follow + "who accepts it; without after it waits for the result"
	}
	switch {
	case kept(r) && r.Owner == "":
		did, next = "Nothing was handed off.", c.Say("to hand it off, call {send} with task=%s and an agent in to", r.Task)
	case kept(r):
		did, next = "Nothing was handed off.", "continue it yourself"
	case r.Stage == client.StageAtDesk && r.Ticket != "":
		did, next = "It was handed to people as ticket "+r.Ticket+".", follow+"who claims it"
	case r.State == client.Waiting:
		did, next = "It was delegated.", follow+"when results are in"
	case len(r.Children) > 0:
		did, next = "Every receiver has a copy; nobody waits for their results.", c.Say("{status} with id=%s shows the state of each", r.Task)
	case r.Stage == client.StageAwaitingApproval:
		did, next = "It needs approval first.", follow+"the verdict"
	case in.Confirm == client.ConfirmExplicit:
		next = c.Say("when {inbox} shows that it was accepted, call {decide} with verdict=confirm")
	}
	a := tool.Told(r, did, next)
	if r.Decision != nil {
		a.Text += "\n" + show.DecisionOf(*r.Decision).String()
	}
	return a
}
