package mcpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/resource"
)

type joinInput struct {
	Readiness   string        `json:"readiness,omitempty" enum:"ready,busy,draining,offline" jsonschema:"default ready"`
	Description string        `json:"description,omitempty" jsonschema:"what you do, for others to find you"`
	Channels    argument.List `json:"channels,omitempty" jsonschema:"to subscribe to"`
}

type joined struct {
	You       string      `json:"you"`
	Readiness string      `json:"readiness,omitempty"`
	Waiting   int         `json:"waiting"`
	Holding   int         `json:"holding"`
	Agents    []neighbour `json:"agents"`
	More      int         `json:"more,omitempty"`
	Next      string      `json:"next"`
}

// neighbour is another agent, as one needs to know it to hand something to it.
type neighbour struct {
	Name         string   `json:"name"`
	Readiness    string   `json:"readiness"`
	Known        string   `json:"known,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Description  string   `json:"description,omitempty"`
}

// neighbourOf is an agent with what is known beside its own word: when it was last seen, what it holds, what its circuit says.
func neighbourOf(a client.Agent, now time.Time) neighbour {
	var known []string
	switch away := now.Sub(a.Seen).Truncate(time.Minute); {
	case a.Seen.IsZero():
		known = append(known, "not seen since the server started")
	case away > 0:
		known = append(known, "last seen "+strings.TrimSuffix(away.String(), "0s")+" ago")
	}
	switch {
	case a.Spec.MaxTasks > 0:
		known = append(known, fmt.Sprintf("holds %d of %d", a.Held, a.Spec.MaxTasks))
	case a.Held > 0:
		known = append(known, fmt.Sprintf("holds %d", a.Held))
	}
	if a.Circuit.State != "closed" {
		s := "circuit " + strings.ReplaceAll(a.Circuit.State, "_", " ")
		if !a.Circuit.ResetAt.IsZero() {
			s += " until " + a.Circuit.ResetAt.UTC().Format(time.RFC3339)
		}
		known = append(known, s)
	}
	return neighbour{a.Name, string(a.Readiness), strings.Join(known, ", "), a.Spec.Capabilities, clip(oneLine(a.Spec.Description), 120)}
}

const mostNeighbours = 50

var joinTool = define[joinInput, joined]("join", "Say that you are there", repeats,
	"Say that you are there and take work (or stop taking it: draining, offline). Tells who you are, who else is there, and what waits.",
	func(ctx context.Context, c *call, in joinInput) (answer, error) {
		me, err := c.Me(ctx)
		if err != nil {
			return answer{}, err
		}
		out := joined{You: me.Name, Agents: []neighbour{}, Next: "wait for work with inbox"}
		if me.Agent != "" {
			if err := c.appear(ctx, me.Agent, in, &out); err != nil {
				return answer{}, err
			}
		} else {
			if in.says() {
				return answer{}, invalid("only an agent joins with something to say of itself; your token is of %s/%s", me.Role, me.Name)
			}
			out.Next = "inbox has what is to be approved, status all tasks and open tickets; decide sees to them"
		}
		known, err := c.Agents(ctx)
		if err != nil {
			return answer{}, err
		}
		for _, a := range known.Agents {
			switch {
			case a.Name == me.Agent:
			case len(out.Agents) == mostNeighbours:
				out.More++
			default:
				out.Agents = append(out.Agents, neighbourOf(a, time.Now()))
			}
		}
		return answer{text: out.String(), data: out}, nil
	})

func (in joinInput) says() bool {
	return in.Readiness != "" || in.Description != "" || len(in.Channels) > 0
}

// introduce registers an agent that is not, and takes down what it says of itself.
func (c *call) introduce(ctx context.Context, name string, in joinInput) (client.Agent, error) {
	a, err := c.Agent(ctx, name)
	absent := errors.Is(err, client.NotFound)
	if err != nil && !absent {
		return a, err
	}
	if absent || in.Description != "" && in.Description != a.Spec.Description {
		a.Spec.Description = in.Description
		if a, err = c.RegisterAgent(ctx, name, a.Spec); err != nil {
			return a, err
		}
	}
	for _, channel := range in.Channels {
		if _, err := c.Subscribe(ctx, channel, client.SubscriptionInput{}); err != nil {
			return a, err
		}
	}
	return a, nil
}

// humanKind is the kind of agents that are people.
const humanKind = "human"

// appear says that an agent is ready, and counts what waits for it.
func (c *call) appear(ctx context.Context, name string, in joinInput, out *joined) error {
	ctx = client.WithKey(ctx, "") // it makes several changes, and a key is of one; all may be repeated freely
	a, err := c.introduce(ctx, name, in)
	if err != nil {
		return err
	}
	wanted := client.Readiness(in.Readiness)
	if wanted == "" {
		wanted = client.Ready
	}
	if a.Readiness != wanted {
		if a, err = c.SetReadiness(ctx, name, wanted); err != nil {
			return err
		}
	}
	box, err := c.Inbox(ctx, client.InboxOptions{Peek: true, Limit: 500})
	if err != nil {
		return err
	}
	out.Readiness, out.Holding, out.Waiting = string(a.Readiness), a.Held, len(box.Items)
	switch {
	case out.Waiting == 0 && a.Spec.Kind == humanKind:
		out.Next = "status shows what your desks are asked, which is not in the inbox: decide sees to it. inbox waits for what is for you by name"
	case out.Waiting > 0:
		out.Next = "inbox shows what waits, and what to do about it"
	case out.Holding > 0:
		out.Next = "status shows the tasks you hold: go on with them"
	case a.Readiness != client.Ready:
		out.Next = "you are offered nothing new; join with readiness=ready changes that"
	}
	return nil
}

func (j joined) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are %s", j.You)
	if j.Readiness != "" {
		fmt.Fprintf(&b, ", %s; %d waiting in your inbox, %d held", j.Readiness, j.Waiting, j.Holding)
	}
	b.WriteString(".\n")
	for _, n := range j.Agents {
		fmt.Fprintf(&b, "- %s (%s)", n.Name, strings.TrimSuffix(n.Readiness+", "+n.Known, ", "))
		if len(n.Capabilities) > 0 {
			b.WriteString(" can: " + strings.Join(n.Capabilities, ", "))
		}
		if n.Description != "" {
			b.WriteString(" - " + n.Description)
		}
		b.WriteString("\n")
	}
	if j.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", j.More)
	}
	return b.String() + "Next: " + j.Next
}

type inboxInput struct {
	Wait  int    `json:"wait,omitempty" jsonschema:"seconds to wait for the first item, at most 50; use 45"`
	After uint64 `json:"after,omitempty" jsonschema:"cursor of the answer before: only what is new"`
	Limit int    `json:"limit,omitempty"`
}

type inbox struct {
	Items  []item `json:"items"`
	Cursor uint64 `json:"cursor"`
	Next   string `json:"next"`
}

type item struct {
	Type     string    `json:"type"`
	ID       string    `json:"id"`
	Task     string    `json:"task"`
	From     string    `json:"from"`
	Kind     string    `json:"kind,omitempty"`
	Priority string    `json:"priority"`
	Reason   string    `json:"reason,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	Intent   string    `json:"intent"`
	Envelope string    `json:"envelope,omitempty"`
	Ends     time.Time `json:"ends,omitzero"`
}

// maxWait is the longest that a call waits: shorter than the 60 s after which the usual clients give up.
const maxWait = 50

var inboxTool = define[inboxInput, inbox]("inbox", "See what waits for you", repeats,
	"What waits for you, most urgent first: offers to accept or reject, what wants your word (decide), tasks that are yours again. Blocks for wait seconds. Seeing an offer starts its clock: answer at once.",
	func(ctx context.Context, c *call, in inboxInput) (answer, error) {
		if in.Wait < 0 || in.Wait > maxWait {
			return answer{}, invalid("wait is %d; use 0 to %d seconds and call again if nothing came", in.Wait, maxWait)
		}
		defer c.alive(ctx, "waiting for the inbox")()
		box, err := liveness.Ride(ctx, c.options.Remote, in.Wait, func(wait time.Duration) (client.Inbox, error) {
			return c.Inbox(ctx, client.InboxOptions{Wait: wait, Limit: in.Limit, After: in.After})
		})
		if err != nil {
			return answer{}, err
		}
		out := inbox{Items: []item{}, Cursor: box.Position}
		for _, i := range box.Items {
			out.Items = append(out.Items, item{
				i.Type, i.ID, i.Task, i.From, string(i.Kind), string(i.Priority), string(i.Reason), i.Detail, i.Intent, i.Envelope, i.Ends,
			})
		}
		return answer{text: out.write(in.Wait), data: out}, nil
	})

// doing is which tool answers a sort of item.
var doing = map[string]string{
	"offer": "accept or reject", "approval": "decide: approve or deny", "confirm": "decide: confirm", "takeover": "decide: approve or deny", "share": "status reads it",
	"question": "decide: answer",
	"stranded": "status with its task says what helps; only an operator can replay it: tell the person", "resumed": "the task is yours again: status shows how it stands; go on with it",
}

func (b *inbox) write(waited int) string {
	if len(b.Items) == 0 {
		b.Next = fmt.Sprintf("nothing waits. To wait for work call inbox again with wait=45, after=%d", b.Cursor)
		return fmt.Sprintf("Nothing waits for you (waited %d s).\nNext: %s", waited, strings.TrimPrefix(b.Next, "nothing waits. "))
	}
	more := fmt.Sprintf("; then inbox with wait=45, after=%d for more", b.Cursor)
	b.Next = "see to what waits, as it says in brackets" + more
	var s strings.Builder
	for _, i := range b.Items {
		if i.Type == "offer" {
			b.Next = "accept what you can do, reject the rest" + more
		}
		fmt.Fprintf(&s, "- %s %s from %s, %s, task %s [%s]: %s", i.Type, i.ID, i.From, i.Priority, i.Task, doing[i.Type], oneLine(i.Intent))
		if i.Detail != "" {
			s.WriteString(" (" + oneLine(i.Detail) + ")")
		}
		if !i.Ends.IsZero() {
			s.WriteString(", answer by " + i.Ends.UTC().Format(time.RFC3339))
		}
		s.WriteString("\n")
	}
	return s.String() + "Next: " + b.Next
}

type acceptInput struct {
	Handoff  string `json:"handoff,omitempty" jsonschema:"id of an offer in your inbox"`
	Takeover string `json:"takeover,omitempty" jsonschema:"instead: a task of another's that you ask to have"`
	Detail   string `json:"detail,omitempty" jsonschema:"with takeover: why"`
}

type accepted struct {
	receipt
	Context string `json:"context,omitempty"`
}

var acceptTool = define[acceptInput, accepted]("accept", "Accept a task", changes,
	"Accept an offer: the task is yours and you get its context, ready to work from. Or ask its owner for a task (takeover).",
	func(ctx context.Context, c *call, in acceptInput) (answer, error) {
		switch {
		case (in.Handoff == "") == (in.Takeover == ""):
			return answer{}, invalid("accept needs handoff (id of an offer in your inbox) or takeover (a task id)")
		case in.Detail != "" && in.Takeover == "":
			return answer{}, invalid("detail goes with takeover: an offer is accepted without a word; leave it out")
		case in.Takeover != "":
			return c.takeOver(ctx, in)
		}
		r, err := c.Accept(ctx, in.Handoff, client.AcceptInput{Render: true})
		if errors.Is(err, client.Expired) {
			if a, ok := c.acceptedBefore(ctx, in.Handoff); ok {
				return a, nil
			}
		}
		if err != nil {
			return answer{}, err
		}
		if r.Content == nil {
			return taken(r.Receipt, "You accepted; its owner must still let go.",
				fmt.Sprintf("status with id=%s, wait=45, after=%d shows it; then accept again gives the context", r.Task, r.Position), ""), nil
		}
		return owned(r.Receipt, *r.Content), nil
	})

// takeOver asks an owner for its task. Where the owner is lost, the task is the caller's at once.
func (c *call) takeOver(ctx context.Context, in acceptInput) (answer, error) {
	me, err := c.Me(ctx)
	if err != nil {
		return answer{}, err
	}
	r, err := c.Takeover(ctx, in.Takeover, client.TakeoverInput{Detail: in.Detail})
	if err != nil {
		return answer{}, err
	}
	if r.Owner == me.Agent {
		s, err := c.Content(ctx, r.Handoff, client.ContentInput{Render: true})
		if err != nil {
			return answer{}, err
		}
		return owned(r, s), nil
	}
	next := fmt.Sprintf("if it consents, you own the task: status with id=%s shows it then, and not before, and accept with the handoff that status names gives the context", r.Task)
	if r.State == client.Waiting {
		next += ". It waits for people or children now, and can be let go of only when it goes on"
	}
	return taken(r, "Its owner was asked.", next, ""), nil
}

// acceptedBefore is for who accepted and never saw the answer: what it accepted is its own, so it gets the context again.
func (c *call) acceptedBefore(ctx context.Context, handoff string) (answer, bool) {
	me, err := c.Me(ctx)
	if err != nil {
		return answer{}, false
	}
	t, err := c.Task(ctx, taskOf(handoff))
	if err != nil || t.Owner != me.Agent || t.Handoff == nil || t.Handoff.ID != handoff {
		return answer{}, false
	}
	s, err := c.Content(ctx, handoff, client.ContentInput{Render: true})
	if err != nil {
		return answer{}, false
	}
	r := client.Receipt{Task: t.ID, State: t.State, Owner: t.Owner, Epoch: t.Epoch, Handoff: handoff, Stage: t.Handoff.Stage, Repeat: true}
	return owned(r, s), true
}

// owned is what whoever has just got a task works from, and where to read what that leaves out.
func owned(r client.Receipt, s client.Sheet) answer {
	a := taken(r, "The task is yours.", "do what the context asks; progress on long work; then complete, send or escalate", s.Prompt)
	var left int
	if a.more, left = resource.ContentLinks(r.Task, r.Handoff, s.Envelope); left > 0 {
		a.text += fmt.Sprintf("\n\n%d more memory items and artifacts are in trapeze://envelope/%s", left, r.Handoff)
	}
	return a
}

func taken(r client.Receipt, did, next, prompt string) answer {
	a := told(r, did, next)
	if prompt != "" {
		a.text += "\n\n" + prompt
	}
	a.data = accepted{receiptOf(r, next), prompt}
	return a
}

type rejectInput struct {
	Handoff string        `json:"handoff"`
	Why     string        `json:"why" enum:"not_capable,overloaded,missing_context,refused" jsonschema:"not_capable, overloaded, missing_context or refused"`
	Missing argument.List `json:"missing,omitempty" jsonschema:"with missing_context: the fields you need"`
	Detail  string        `json:"detail,omitempty"`
}

var rejectTool = define[rejectInput, receipt]("reject", "Turn an offer down", changes,
	"Turn an offer down, with the reason. The task goes to the next candidate or back.",
	func(ctx context.Context, c *call, in rejectInput) (answer, error) {
		if len(in.Missing) > 0 && in.Why != string(client.MissingContext) {
			return answer{}, invalid("missing goes with why=missing_context: leave it out, or say so")
		}
		r, err := c.Reject(ctx, in.Handoff, client.RejectInput{Why: client.Rejection(in.Why), Missing: in.Missing, Detail: in.Detail})
		if err != nil {
			return answer{}, err
		}
		return told(r, "You turned it down.", "wait for other work with inbox"), nil
	})
