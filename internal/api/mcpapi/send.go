package mcpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tasks"
)

type sendInput struct {
	Task       string        `json:"task,omitempty" jsonschema:"a task you own; or give intent"`
	Intent     string        `json:"intent,omitempty" jsonschema:"makes a new task: the original request, word for word"`
	To         argument.List `json:"to,omitempty" jsonschema:"agents by preference; or auto (the policy decides); or human:DESK"`
	Capability string        `json:"capability,omitempty" jsonschema:"whoever can do this"`
	Channel    string        `json:"channel,omitempty" jsonschema:"its subscribers"`
	Kind       string        `json:"kind,omitempty" enum:"warm,cold,supervised,broadcast,delegation" jsonschema:"warm: full context (default). cold: description only. supervised: someone approves first. broadcast: first to accept wins. delegation: you wait and get the result back"`
	FanOut     bool          `json:"fan_out,omitempty" jsonschema:"broadcast: every receiver gets a copy"`
	FanIn      string        `json:"fan_in,omitempty" enum:"all,first,quorum,none" jsonschema:"whose results you wait for"`
	Quorum     int           `json:"quorum,omitempty"`
	Reason     string        `json:"reason,omitempty" enum:"user_request,specialization,capability_mismatch,error,timeout,escalation,supervision"`
	Detail     string        `json:"detail,omitempty" jsonschema:"the reason in words"`
	said
	Constraints argument.List `json:"constraints,omitempty" jsonschema:"bind every later holder: KIND:TEXT, or KIND!:TEXT if it must hold. KIND: budget, security, format, preference, prohibition"`
	wanted
	fresh
	Budget    int    `json:"budget,omitempty" jsonschema:"most tokens of the receiver's context"`
	Approver  string `json:"approver,omitempty" jsonschema:"of supervised; default: any operator"`
	Confirm   bool   `json:"confirm,omitempty" jsonschema:"you let go yourself, with decide"`
	ShareOnly bool   `json:"share_only,omitempty" jsonschema:"give one agent the context; the task stays yours"`
	Epoch     uint64 `json:"epoch,omitempty"`
	Key       string `json:"key,omitempty" jsonschema:"any id; a repeated call with it happens once"`
}

// wanted is what a result must be like.
type wanted struct {
	Criteria argument.List   `json:"criteria,omitempty" jsonschema:"what a good result fulfils"`
	Schema   json.RawMessage `json:"schema,omitempty" jsonschema:"JSON Schema of the result's data"`
}

func (w wanted) empty() bool { return len(w.Criteria) == 0 && len(w.Schema) == 0 }

func (w wanted) expected() client.Expected {
	return client.Expected{Criteria: w.Criteria, Schema: w.Schema}
}

// fresh is what only a new task is given.
type fresh struct {
	Priority     string        `json:"priority,omitempty" enum:"low,normal,high,urgent"`
	Deadline     string        `json:"deadline,omitempty" jsonschema:"such as 2026-01-31T15:00:00Z"`
	Conversation string        `json:"conversation,omitempty" jsonschema:"goes along, condensed"`
	Tags         argument.List `json:"tags,omitempty" jsonschema:"for the policy"`
}

func (f fresh) empty() bool {
	return f.Priority == "" && f.Deadline == "" && f.Conversation == "" && len(f.Tags) == 0
}

var sendTool = define[sendInput, sentAnswer]("send", "Hand a task off", changes,
	"Hand a task off: one you own (task) or a new one (intent). Without to, capability or channel a new task stays with you. You keep it until a receiver accepts. Report progress before you send it back to who had it: a return without is a loop, and ends it.",
	func(ctx context.Context, c *call, in sendInput) (answer, error) {
		about, said, err := c.earlier()
		if err != nil {
			return answer{}, err
		}
		if said != nil {
			return c.approved(ctx, about, said)
		}
		ctx = keyed(ctx, in.Key)
		switch {
		case (in.Task == "") == (in.Intent == ""):
			return answer{}, invalid("send needs either task (one you own) or intent (to make a new one)")
		case in.ShareOnly:
			return c.share(ctx, in)
		}
		send, there, err := in.handoff()
		if err != nil {
			return answer{}, err
		}
		if in.Intent != "" && !there {
			return c.keep(ctx, in, send)
		}
		r, err := c.send(ctx, in, send)
		if err != nil {
			return answer{}, err
		}
		if in.Approver == "" && r.Stage == client.StageAwaitingApproval && c.options.Person != "" && c.canAsk() {
			return c.approveHere(ctx, r, send)
		}
		return c.sentOff(ctx, r, send)
	})

// keep makes a task that stays with its maker.
func (c *call) keep(ctx context.Context, in sendInput, send client.SendInput) (answer, error) {
	if in.handsOff() {
		return answer{}, invalid("kind, fan_out, fan_in, quorum, approver, reason, budget and confirm are of a handoff: say whom it is for with to, capability or channel, or leave them out")
	}
	task, err := in.create(send)
	if err != nil {
		return answer{}, err
	}
	task.Start, task.Content = true, send.Content
	r, err := c.CreateTask(ctx, task)
	if err != nil {
		return answer{}, err
	}
	return told(r, "The task was made and is yours.", "work on it, then complete or send it"), nil
}

// create is the task that a handoff makes, without the handoff. What its constraints and its result must be is the task's,
// and not the handoff's; but where others do parts of it, the result is that of each part.
func (in sendInput) create(send client.SendInput) (client.CreateInput, error) {
	out := client.CreateInput{
		Intent: in.Intent, Priority: client.Priority(in.Priority), Conversation: in.Conversation, Tags: in.Tags, Constraints: send.Constraints,
	}
	if !in.parts() {
		out.Expected = in.expected()
	}
	if in.Deadline == "" {
		return out, nil
	}
	var err error
	if out.Deadline, err = time.Parse(time.RFC3339, in.Deadline); err != nil {
		return out, invalid("deadline is %.40q; write it as 2026-01-31T15:00:00Z", in.Deadline)
	}
	return out, nil
}

// send hands a task off that there is, or one that is made with it.
func (c *call) send(ctx context.Context, in sendInput, send client.SendInput) (client.Receipt, error) {
	if in.Intent != "" {
		task, err := in.create(send)
		if err != nil {
			return client.Receipt{}, err
		}
		send.Constraints, task.Send = nil, &send
		r, err := c.CreateTask(ctx, task)
		if err != nil || r.State != client.Pending || r.Handoff != "" || len(r.Children) > 0 { // copies that nobody waits for leave it pending
			return r, err
		}
		return c.start(ctx, r)
	}
	switch {
	case !in.fresh.empty():
		return client.Receipt{}, invalid("priority, deadline, conversation and tags are given when a task is made, with intent: leave them out")
	case !in.parts() && !in.wanted.empty():
		return client.Receipt{}, invalid("what the result must be (criteria, schema) is said when a task is made, with intent, or of the parts that others do (kind=delegation, fan_out): leave it out, or write it into ask")
	}
	var err error
	if send.Epoch, err = c.epochOf(ctx, in.Task, in.Epoch); err != nil {
		return client.Receipt{}, err
	}
	return c.Send(ctx, in.Task, send)
}

// start gives a new task that the policy handed to nobody to its maker, to go on with. Repeated, it is the same call: whoever
// repeats a send whose answer was lost has the same answer. People own no tasks: theirs stays where it is.
func (c *call) start(ctx context.Context, made client.Receipt) (client.Receipt, error) {
	if made.Decision == nil { // a repeated call is not told why
		made.Decision = &client.Decision{Action: keep}
	}
	r, err := c.Start(client.WithKey(ctx, "start "+made.Task), made.Task)
	if errors.Is(err, client.NotOwner) {
		return made, nil
	}
	r.Decision = made.Decision
	return r, err
}

// keep is what a policy decides that leaves a task where it is.
const keep = "keep"

func kept(r client.Receipt) bool { return r.Decision != nil && r.Decision.Action == keep }

// handoff is how the task is to be handed off, and whether anybody was named to hand it to.
func (in sendInput) handoff() (send client.SendInput, there bool, err error) {
	send = client.SendInput{
		To: in.To, Capability: in.Capability, Channel: in.Channel, Kind: client.Kind(in.Kind), FanOut: in.FanOut, Reason: client.Reason(in.Reason),
		Detail: in.Detail, Content: in.content(), Pack: client.Pack{Tokens: in.Budget}, Approver: in.Approver,
		FanIn: client.FanIn{Mode: client.FanInMode(in.FanIn), Quorum: in.Quorum},
	}
	if in.Confirm {
		send.Confirm = client.ConfirmExplicit
	}
	if in.parts() {
		send.Expected = in.expected()
	}
	if send.Constraints, err = client.ParseConstraints(in.Constraints); err != nil {
		err = invalid("constraints: %s", err)
	}
	return send, len(in.To) > 0 || in.Capability != "" || in.Channel != "", err
}

// parts reports whether others do the task, or parts of it, while its owner waits: their results come back to it.
func (in sendInput) parts() bool { return in.FanOut || in.Kind == string(client.Delegation) }

// handsOff reports whether something was given that only a handoff has.
func (in sendInput) handsOff() bool {
	return in.Kind != "" || in.FanOut || in.FanIn != "" || in.Quorum != 0 || in.Reason != "" || in.Budget != 0 || in.Confirm || in.Approver != ""
}

func (c *call) share(ctx context.Context, in sendInput) (answer, error) {
	if in.Task == "" || len(in.To) != 1 || in.Capability != "" || in.Channel != "" {
		return answer{}, invalid("share_only needs task, and one agent in to")
	}
	if in.Kind != "" || in.FanOut || in.FanIn != "" || in.Quorum != 0 || in.Confirm || in.Approver != "" {
		return answer{}, invalid("with share_only the task stays yours: leave kind, fan_out, fan_in, quorum, approver and confirm out")
	}
	if len(in.Constraints) > 0 || !in.wanted.empty() || !in.fresh.empty() {
		return answer{}, invalid("with share_only nothing changes for the task: leave constraints, criteria, schema, priority, deadline, conversation and tags out")
	}
	epoch, err := c.epochOf(ctx, in.Task, in.Epoch)
	if err != nil {
		return answer{}, err
	}
	r, err := c.Share(ctx, in.Task, client.ShareInput{Epoch: epoch, To: in.To[0], Detail: in.Detail, Content: in.content(), Pack: client.Pack{Tokens: in.Budget}})
	if err != nil {
		return answer{}, err
	}
	return told(r, "The context was shared with "+in.To[0]+".", ""), nil
}

// sentOff is what came of a handoff. Where its sender waits for results, a client that can is given a handle for them.
func (c *call) sentOff(ctx context.Context, r client.Receipt, in client.SendInput) (answer, error) {
	if r.State == client.Parked {
		return c.halted(ctx, r), nil
	}
	if r.State == client.Waiting && len(r.Children) > 0 && tasks.Supported(ctx) {
		handle, err := c.handleOf(ctx, r)
		if err != nil {
			return answer{}, err
		}
		tasks.Later(ctx, handle)
	}
	return sent(r, in), nil
}

// halted is what whoever hands on is told where a limit stops it: nothing was offered, and the task is in the dead letters.
func (c *call) halted(ctx context.Context, r client.Receipt) answer {
	t, err := c.Task(ctx, r.Task)
	if err != nil || t.State != client.Parked || t.Parked == nil {
		return told(r, "Nothing was handed off.", "status with id="+r.Task+" shows why")
	}
	return told(r, "Nothing was handed off: "+oneLine(t.Parked.Cause+": "+t.Parked.Detail)+".", nextOf(t, false))
}

func sent(r client.Receipt, in client.SendInput) answer {
	follow := fmt.Sprintf("status with id=%s, wait=45, after=%d shows ", r.Task, r.Position)
	did, next := "The handoff is on record.", follow+"who takes it; until then you own it"
	if r.Owner == "" {
		next = follow + "who takes it; without after it waits for the result"
	}
	switch {
	case kept(r) && r.Owner == "":
		did, next = "Nothing was handed off.", "send with task="+r.Task+" and a name in to hands it off"
	case kept(r):
		did, next = "Nothing was handed off.", "go on with it yourself"
	case r.Stage == client.StageAtDesk && r.Ticket != "":
		did, next = "It is with people as ticket "+r.Ticket+".", follow+"who takes it"
	case r.State == client.Waiting:
		did, next = "It was delegated.", follow+"when results are in"
	case len(r.Children) > 0:
		did, next = "Every receiver has a copy, and nobody waits for theirs.", "status with id="+r.Task+" shows how each stands"
	case r.Stage == client.StageAwaitingApproval:
		did, next = "Somebody must approve it first.", follow+"the answer"
	case in.Confirm == client.ConfirmExplicit:
		next = "when inbox shows that it was accepted, decide with verdict confirm"
	}
	a := told(r, did, next)
	if r.Decision != nil {
		a.text += "\n" + decisionOf(*r.Decision).String()
	}
	return a
}

// sentAnswer is a receipt, and the results that a sender has waited for.
type sentAnswer struct {
	receipt
	Results []childNow `json:"results,omitempty"`
}
