package handoffs

import (
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
)

// SendInput hands a task off.
type SendInput struct {
	Task        string            `json:"task,omitempty" doc:"Id of the task."`
	Epoch       uint64            `json:"epoch,omitempty" doc:"The task's epoch as you know it; an old one is refused."`
	To          []string          `json:"to,omitempty" doc:"Agents, in order of preference; auto alone: where the policy says, or nowhere; human:DESK asks the people of a desk to take it over. Leave out to follow the task's route."`
	Capability  string            `json:"capability,omitempty" doc:"What the receiver must be able to do, instead of, or beside, a name."`
	Channel     string            `json:"channel,omitempty" doc:"Publish to the present subscribers of this channel by broadcast, instead of naming receivers."`
	Kind        event.Kind        `json:"kind,omitempty" doc:"warm if left out; with a channel, broadcast."`
	FanOut      bool              `json:"fan_out,omitempty" doc:"With broadcast: every receiver gets a copy, as a child task. Otherwise the first to accept wins."`
	FanIn       event.FanIn       `json:"fan_in,omitzero" doc:"When the sender of a fan-out or delegation resumes; all if left out."`
	Reason      event.Reason      `json:"reason,omitempty" doc:"user_request if left out."`
	Detail      string            `json:"detail,omitempty" doc:"The reason in words."`
	Content     envelopes.Content `json:"content,omitzero"`
	Confirm     event.ConfirmMode `json:"confirm,omitempty" doc:"explicit: you let go with a call of your own after the receiver has accepted."`
	Timeouts    event.Timeouts    `json:"timeouts,omitzero"`
	Retries     *int              `json:"retries,omitempty" minimum:"0" maximum:"20" doc:"Offers to a receiver after the first that went unanswered; 3 if left out."`
	ReturnHome  bool              `json:"return_home,omitempty" doc:"When nobody is left to try: back to you, not to the dead letters."`
	Approver    string            `json:"approver,omitempty" doc:"Of a supervised handoff: an agent. Left out: any operator."`
	Permissions []string          `json:"permissions,omitzero" doc:"A part of the task's permissions. Left out: all of them. Empty: none."`
	Budget      event.Budget      `json:"budget,omitzero" doc:"Of each child of a fan-out or delegation; an equal part of what is left if left out."`
	Expected    event.Expected    `json:"expected,omitzero" doc:"Of the children's results."`
	Pack        event.Pack        `json:"pack,omitzero" doc:"How what is handed over is packed for each receiver. Left out: up to half of its context window, if that is known, by priority."`
	// Constraints are added in the same decision as the handoff: both are recorded, or neither is.
	Constraints []event.Constraint `json:"constraints,omitempty" doc:"Constraints that the task gets first: they bind its owners from then on, children included."`

	// Asked is the principal whose handoff is asked for again; empty: the caller's own. Nobody can say so from outside.
	Asked string `json:"-"`

	// No API sets what follows: it is what the policy decides.
	Up       routes.Chain    `json:"-"` // what of a chain is above the task, instead of receivers
	Decision *event.Decision `json:"-"` // that the handoff follows from
	Auto     *Automatic      `json:"-"` // what the call makes of a handoff to auto; nil: it can make none
}

// auto reports whether the policy is to decide where a task goes.
func (in *SendInput) auto() bool { return len(in.To) == 1 && in.To[0] == routing.Auto }

// first is whom a handoff is meant for first: an agent by name, or the agents that have a capability.
func (in *SendInput) first() event.Receiver {
	if len(in.To) > 0 {
		return event.Receiver{Agent: in.To[0]}
	}
	return event.Receiver{Capability: in.Capability}
}

func (in *SendInput) check() error {
	if err := envelopes.CheckPack(in.Pack); err != nil {
		return err
	}
	switch {
	case in.FanOut && in.Kind != event.Broadcast:
		return refusal.New(refusal.Invalid, "use the kind broadcast, or omit fan_out", "a %s handoff does not fan out", in.Kind).With("field", "fan_out")
	case in.Approver != "" && in.Kind != event.Supervised:
		return refusal.New(refusal.Invalid, "use the kind supervised, or omit the approver", "a %s handoff has no approver", in.Kind).With("field", "approver")
	case in.FanIn.Mode != "" && !in.FanOut && in.Kind != event.Delegation:
		return refusal.New(refusal.Invalid, "use it with a fan-out or a delegation", "a %s handoff has no fan-in", in.Kind).With("field", "fan_in.mode")
	}
	of := in.checkChildless
	if in.FanOut || in.Kind == event.Delegation {
		of = in.checkParent
	}
	if err := of(); err != nil {
		return err
	}
	return in.checkChannel()
}

// checkChildless refuses what is said of children where there will be none.
func (in *SendInput) checkChildless() error {
	const hint = "use it with a fan-out or a delegation, or say it when the task is created"
	switch {
	case !in.Expected.Empty():
		return refusal.New(refusal.Invalid, hint, "a %s handoff cannot change what is expected of the result", in.Kind).With("field", "expected_output")
	case in.Budget != event.Budget{}:
		return refusal.New(refusal.Invalid, hint, "a %s handoff cannot change the task's budget", in.Kind).With("field", "budget")
	}
	return in.checkWait()
}

// checkWait refuses a wait where nobody is waited for.
func (in *SendInput) checkWait() error {
	if in.Timeouts.Wait == 0 {
		return nil
	}
	return refusal.New(refusal.Invalid, "leave the wait timeout out, or wait for children: with a delegation, or a fan-out whose fan-in is not none",
		"this %s handoff waits for no children, so there is nothing to limit", in.Kind).With("field", "timeouts.wait")
}

// checkParent refuses what is said of a task that moves where it will not: its children do, each by itself.
func (in *SendInput) checkParent() error {
	switch {
	case in.Confirm == event.ConfirmExplicit:
		return refusal.New(refusal.Invalid, "leave the confirm out: you keep your task", "a handoff that makes children has nothing to confirm")
	case in.ReturnHome:
		return refusal.New(refusal.Invalid, "leave it out; say with fan_in and the wait timeout when you go on without a child",
			"a child that nobody takes does not return to you: it goes to the dead letters")
	case in.FanIn.Mode == event.FanInNone:
		return in.checkWait()
	}
	return nil
}

// checkChannel refuses what does not go together with publishing.
func (in *SendInput) checkChannel() error {
	switch {
	case in.Channel == "":
		return nil
	case len(in.To) > 0 || in.Capability != "":
		return refusal.New(refusal.Invalid, "publish to the channel, or name receivers, in two handoffs", "a channel names the receivers already").With("field", "channel")
	case in.Kind != event.Broadcast:
		return refusal.New(refusal.Invalid, "use the kind broadcast, or leave it out", "a %s handoff is not published to a channel", in.Kind)
	}
	return refusal.In("channel", channel.CheckName(in.Channel))
}

// checkAuto refuses what is not for the sender to say where the policy is to decide.
func (in *SendInput) checkAuto() error {
	for what, given := range map[string]bool{
		"a capability": in.Capability != "", "a channel": in.Channel != "", "a kind": in.Kind != "", "a fan-out": in.FanOut, "an approver": in.Approver != "",
	} {
		if given {
			return refusal.New(refusal.Invalid, "leave it out, or name receivers yourself", "a handoff to %s cannot have %s: the policy decides", routing.Auto, what)
		}
	}
	return nil
}
