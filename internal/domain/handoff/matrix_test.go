package handoff

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

var update = flag.Bool("update", false, "rewrite testdata/matrix.md; commit only changes that you understand")

// caller is who gives the command of a row: rightly, wrongly, or rightly with an old epoch.
type caller int

const (
	rightful caller = iota
	stranger
	outdated
)

// row is one command of the matrix. It makes the command for a task, given by who.
type row struct {
	name string
	make func(t task.Task, who caller) Command // nil: that sort of caller does not exist for this command
}

// as picks the caller: by, or somebody who has nothing to do with the task.
func (who caller) as(by identity.Principal) identity.Principal {
	if who == stranger {
		return agent("zoe")
	}
	return by
}

func (who caller) epoch(t task.Task) uint64 {
	if who == outdated {
		return t.Epoch + 7
	}
	return t.Epoch
}

// byOwner is a command that names an epoch.
func byOwner(name string, f func(t task.Task, by identity.Principal, epoch uint64) Command) row {
	return row{name, func(t task.Task, who caller) Command { return f(t, who.as(source(t)), who.epoch(t)) }}
}

// byOther is a command without an epoch.
func byOther(name string, by identity.Principal, f func(t task.Task, by identity.Principal) Command) row {
	return row{name, func(t task.Task, who caller) Command {
		if who == outdated {
			return nil
		}
		return f(t, who.as(by))
	}}
}

// byServer is a command that nobody gives but the server itself.
func byServer(name string, f func(t task.Task) Command) row {
	return row{name, func(t task.Task, who caller) Command {
		if who != rightful {
			return nil
		}
		return f(t)
	}}
}

func number(t task.Task) int {
	if t.Handoff == nil {
		return 1
	}
	return t.Handoff.N
}

func ticketNumber(t task.Task) int {
	if t.Ticket == nil {
		return 1
	}
	return t.Ticket.N
}

func matrixRows() []row {
	note := event.Constraint{ID: "c1", Kind: event.ConstraintSecurity, Text: "no secrets in logs"}
	return slices.Concat([]row{
		byOther("Create", agent("ada"), func(_ task.Task, by identity.Principal) Command {
			return Create{By: by, Task: taskID(1), Intent: "do it"}
		}),
		byOther("Start", agent("ada"), func(_ task.Task, by identity.Principal) Command { return Start{By: by} }),
		byOwner("Heartbeat", func(_ task.Task, by identity.Principal, e uint64) Command { return Heartbeat{By: by, Epoch: e} }),
		byOwner("Progress", func(_ task.Task, by identity.Principal, e uint64) Command {
			return Progress{By: by, Epoch: e, Note: "on it"}
		}),
		byOwner("Complete", func(_ task.Task, by identity.Principal, e uint64) Command { return Complete{By: by, Epoch: e} }),
		byOwner("Fail", func(_ task.Task, by identity.Principal, e uint64) Command {
			return Fail{By: by, Epoch: e, Detail: "cannot"}
		}),
		byOther("Cancel", agent("ada"), func(_ task.Task, by identity.Principal) Command { return Cancel{By: by} }),
		byOwner("Constrain", func(_ task.Task, by identity.Principal, e uint64) Command {
			return Constrain{By: by, Epoch: e, Constraint: note}
		}),
		byOther("Lift", operator("ann"), func(_ task.Task, by identity.Principal) Command { return Lift{By: by, ID: "c1", Why: "enough"} }),
		byOther("RaiseBudget", agent("ada"), func(t task.Task, by identity.Principal) Command {
			return RaiseBudget{By: by, Budget: event.Budget{Tokens: 2*t.Budget.Tokens + 1}}
		}),
		byOther("Annotate", agent("ada"), func(_ task.Task, by identity.Principal) Command {
			return Annotate{By: by, Entry: 2, Note: "a correction"}
		}),
		byOwner("ReportGap", func(_ task.Task, by identity.Principal, e uint64) Command {
			return ReportGap{By: by, Epoch: e, Missing: []string{"logs"}}
		}),
	}, handshakeRows(), []row{
		byOther("Takeover", agent("dan"), func(t task.Task, by identity.Principal) Command { return Takeover{By: by, Envelope: nextEnvelope(t)} }),
		byOwner("ApproveTakeover", func(t task.Task, by identity.Principal, e uint64) Command {
			return ApproveTakeover{By: by, Epoch: e, Takeover: 1, Envelope: nextEnvelope(t)}
		}),
		byOwner("DenyTakeover", func(_ task.Task, by identity.Principal, e uint64) Command {
			return DenyTakeover{By: by, Epoch: e, Takeover: 1}
		}),
		byOwner("Share", func(t task.Task, by identity.Principal, e uint64) Command {
			return Share{By: by, Epoch: e, To: "dan", Envelope: nextEnvelope(t)}
		}),
		byOther("ReadShare", agent("dan"), func(_ task.Task, by identity.Principal) Command { return ReadShare{By: by, Share: 1} }),
		byOther("SeeNotice", agent("ada"), func(t task.Task, by identity.Principal) Command { return SeeNotice{By: by, Notice: t.NoticeCount} }),
		byOther("Render the share", agent("dan"), func(t task.Task, by identity.Principal) Command {
			return Render{By: by, Share: 1, Agent: "dan", Rendition: rendition(given(t, 1))}
		}),
		byOther("Stuck", operator("ann"), func(t task.Task, by identity.Principal) Command {
			return Stuck{By: by, Recovery: targets("cleo"), Envelope: nextEnvelope(t)}
		}),
		byOther("Replay", operator("ann"), func(_ task.Task, by identity.Principal) Command { return Replay{By: by} }),
		byOther("Discard", operator("ann"), func(_ task.Task, by identity.Principal) Command { return Discard{By: by, Why: "old"} }),
		byOther("Park", system, func(_ task.Task, by identity.Principal) Command { return Park{By: by, Why: "nobody there"} }),
		byOwner("Ask", func(_ task.Task, by identity.Principal, e uint64) Command {
			return Ask{By: by, Epoch: e, Question: "which one?"}
		}),
		byOther("Claim", operator("bob"), func(t task.Task, by identity.Principal) Command {
			return Claim{By: by, Ticket: ticketNumber(t), Agent: "bob", Envelope: nextEnvelope(t)}
		}),
		byOwner("Release", func(t task.Task, by identity.Principal, e uint64) Command {
			return Release{By: by, Epoch: e, Ticket: ticketNumber(t)}
		}),
		byOther("Answer", operator("bob"), func(t task.Task, by identity.Principal) Command {
			return Answer{By: by, Ticket: ticketNumber(t), Answer: "this one"}
		}),
		byOther("DenyTicket", operator("bob"), func(t task.Task, by identity.Principal) Command { return DenyTicket{By: by, Ticket: ticketNumber(t)} }),
		byOwner("WithdrawTicket", func(t task.Task, by identity.Principal, e uint64) Command {
			return WithdrawTicket{By: by, Epoch: e, Ticket: ticketNumber(t)}
		}),
		byServer("EndChild", func(task.Task) Command { return EndChild{Child: taskID(100), State: event.Completed} }),
		byServer("EndDependency", func(task.Task) Command { return EndDependency{Task: taskID(90), State: event.Completed} }),
		byServer("TakeAdvice", func(task.Task) Command {
			return TakeAdvice{event.AdviceTaken{Model: "m1", Outcome: event.AdvisedKeep}}
		}),
		byServer("Keep", func(task.Task) Command {
			return Keep{event.Decision{Action: event.ActionKeep, Why: []string{"no rule fits"}}}
		}),
		byServer("Tick", func(task.Task) Command { return Tick{} }),
	})
}

func handshakeRows() []row {
	return []row{
		byOwner("Send", func(t task.Task, by identity.Principal, e uint64) Command {
			return Send{
				By: by, Epoch: e, Kind: event.Warm, Reason: event.ReasonSpecialization, Candidates: targets("cleo"), NewWork: true,
				Envelope: nextEnvelope(t),
			}
		}),
		byOwner("Spawn", func(t task.Task, by identity.Principal, e uint64) Command {
			c := delegate(t).(Spawn)
			c.By, c.Epoch = by, e
			c.Children[0].To = "cleo"
			return c
		}),
		byOther("Approve", operator("bob"), func(t task.Task, by identity.Principal) Command { return Approve{By: by, Handoff: number(t)} }),
		byOther("Deny", operator("bob"), func(t task.Task, by identity.Principal) Command { return Deny{By: by, Handoff: number(t)} }),
		byOther("See", agent("ben"), func(t task.Task, by identity.Principal) Command { return See{Agent: by.Agent(), Handoff: number(t)} }),
		byOther("Accept", agent("ben"), func(t task.Task, by identity.Principal) Command { return Accept{By: by, Handoff: number(t)} }),
		byOther("Render", agent("ben"), func(t task.Task, by identity.Principal) Command {
			return Render{By: by, Handoff: number(t), Agent: "ben", Rendition: rendition(given(t, 0))}
		}),
		byOther("Reject", agent("ben"), func(t task.Task, by identity.Principal) Command {
			return Reject{By: by, Handoff: number(t), Reason: event.Refused}
		}),
		byOther("Shed", agent("ben"), func(t task.Task, by identity.Principal) Command {
			return Shed{By: by, Agent: "ben", Handoff: number(t), To: []string{"dan"}, Why: "too much to do"}
		}),
		byServer("JoinClaim", func(t task.Task) Command { return JoinClaim{Agent: "dan", Handoff: number(t)} }),
		byOwner("Confirm", func(t task.Task, by identity.Principal, e uint64) Command {
			return Confirm{By: by, Epoch: e, Handoff: number(t)}
		}),
		byOwner("Withdraw", func(t task.Task, by identity.Principal, e uint64) Command {
			return Withdraw{By: by, Epoch: e, Handoff: number(t)}
		}),
	}
}

func TestEveryStateMeetsEveryCommand(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Every state meets every command\n\n" +
		"Written by a test from what the rules do: the events that follow, or **the code of the refusal**; a dot where nothing is to be done. " +
		"\"Rightly\" is a caller that may give the command, \"by a stranger\" an agent that has nothing to do with the task, and the last column " +
		"the right caller with an epoch that is over.\n")
	for _, e := range examples(t) {
		fmt.Fprintf(&b, "\n## %s\n\n| command | rightly | by a stranger | with an old epoch |\n|---|---|---|---|\n", e.name)
		for _, r := range matrixRows() {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.name, cell(t, e, r, rightful), cell(t, e, r, stranger), cell(t, e, r, outdated))
		}
	}
	const golden = "testdata/matrix.md"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s does not say what the rules do: run go test -run %s -update and look at the difference", golden, t.Name())
	}
}

// cell applies one command to one example.
func cell(t *testing.T, e example, r row, who caller) string {
	c := r.make(e.task, who)
	if c == nil {
		return ""
	}
	before := deepCopy(e.task)
	after, events, err := realRules.apply(e.task, c, e.now)
	if err == nil {
		err = lawful(e.task, c, events, after)
	}
	if err == nil {
		err = sound(after)
	}
	if err != nil {
		t.Errorf("%s, %s: %v", e.name, r.name, err)
	}
	if !reflect.DeepEqual(before, e.task) {
		t.Errorf("%s, %s: the task was changed in place", e.name, r.name)
	}
	if _, refused := Decide(e.task, c, e.now); refused != nil {
		return "**" + string(refusal.CodeOf(refused)) + "**"
	}
	if len(events) == 0 {
		return "·"
	}
	return strings.Join(eventNames(events), ", ")
}
