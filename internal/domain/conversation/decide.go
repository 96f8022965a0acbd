package conversation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Limits of a conversation.
const (
	MaxText   = 64 << 10 // bytes of a turn
	MaxTurns  = 10_000   // per conversation
	MaxBytes  = 8 << 20  // of all its turns together
	MaxAgents = 256      // different speakers
	MaxTasks  = 1000     // different tasks
)

// AppendTurn adds a turn. It is the only command: turns are never changed.
type AppendTurn struct {
	By           memory.Reader
	Conversation string
	Agent        string // empty for the caller's own name
	Role         Role
	Text         string
	Task         string // optional
	Handoff      string // optional; implies its task
	Subject      string // that the conversation is about; optional. It has one, which its owner or an operator says, and keeps it
	Holds        bool   // By requested or owns a task that lets it read the conversation, and that has not ended
	// Since is the time from before which the agent, which has not spoken yet, reads nothing; zero: it reads all.
	Since time.Time
}

// Decide returns the event of appending a turn to a conversation at the time now. Refusals: invalid and too_large for what
// breaks a rule on its own, not_found for a conversation or a task that the caller has no part in, not_permitted for
// speaking as another agent, limit for a conversation that is full.
func Decide(s State, c AppendTurn, now time.Time) ([]Event, error) {
	if c.By.IsZero() {
		return nil, refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	if s.Exists() && s.ID != c.Conversation {
		return nil, refusal.New(refusal.Invalid, "load the conversation that the command names", "a turn of another conversation reached %s", s.ID)
	}
	c, err := c.check()
	if err != nil {
		return nil, err
	}
	if err := c.mayAppend(s); err != nil {
		return nil, err
	}
	if err := c.checkLimits(s); err != nil {
		return nil, err
	}
	if err := c.maySaySubject(s); err != nil {
		return nil, err
	}
	turn := TurnAppended{Conversation: c.Conversation, Turn: Turn{
		N: s.Turns + 1, Agent: c.Agent, Role: c.Role, Text: c.Text, At: now.UTC(), Task: c.Task, Handoff: c.Handoff, By: c.By.String(),
	}}
	if s.Subject == "" {
		turn.Subject = c.Subject
	}
	if s.Exists() && !s.Spoke(c.Agent) {
		turn.Since = c.Since
	}
	return []Event{turn}, nil
}

// check refuses what breaks a rule on its own, and fills in what is implied.
func (c AppendTurn) check() (AppendTurn, error) {
	if c.Agent == "" {
		c.Agent = c.By.Agent()
	}
	if err := refusal.In("id", conversationid.Check(c.Conversation)); err != nil {
		return c, err
	}
	if c.Agent == "" {
		return c, refusal.New(refusal.Invalid, "[name the agent](act as)", "only agents speak in conversations, and none is named")
	}
	if err := event.CheckAgent("agent", c.Agent); err != nil {
		return c, refusal.In("agent", err)
	}
	if err := erasure.CheckName(c.Subject); err != nil {
		return c, refusal.In("subject", err)
	}
	if !Roles.Has(c.Role) {
		return c, unknownRole(string(c.Role))
	}
	if len(c.Text) > MaxText {
		return c, refusal.New(refusal.TooLarge, fmt.Sprintf("a turn has at most %d bytes (%d KiB): append what matters, or split it into turns",
			MaxText, MaxText>>10), "the turn has %d bytes", len(c.Text)).With("field", "text").With("limit", MaxText)
	}
	if !utf8.ValidString(c.Text) || strings.TrimSpace(c.Text) == "" {
		return c, refusal.New(refusal.Invalid, "send what was said, in UTF-8", "the turn is empty or not valid UTF-8").With("field", "text")
	}
	if c.Handoff != "" {
		task, _, err := event.ParseHandoffID(c.Handoff)
		if err != nil {
			return c, refusal.In("handoff", err)
		}
		if c.Task != "" && c.Task != task {
			return c, refusal.New(refusal.Invalid, "leave out the task", "handoff %s is not one of task %s", c.Handoff, strconv.QuoteToASCII(refusal.Clip(c.Task, 40)))
		}
		c.Task = task
	}
	if c.Task != "" {
		return c, refusal.In("task", event.CheckTaskID(c.Task))
	}
	return c, nil
}

func (c AppendTurn) mayAppend(s State) error {
	switch {
	case c.By.IsOperator():
		return nil
	case c.Agent != c.By.Agent():
		return refusal.New(refusal.NotPermitted, "leave the agent out: it is you", "%s may not speak as agent %s", c.By.String(), c.Agent)
	case s.Exists() && !takesPart(s, c.By):
		return refusal.New(refusal.NotFound, "[begin a conversation of your own](conversation log), or [take over](takeover) one of its tasks",
			"you have no part in a conversation %s", c.Conversation)
	case s.Exists() && !c.Holds && !s.TakesPart(c.Agent): // to have spoken in it is to read it from then on
		return refusal.New(refusal.NotPermitted, "[begin a conversation of your own](conversation log), or [ask for the task](takeover)",
			"you may read the conversation %s, and only those that spoke in it before, or requested or own one of its tasks, add to it", c.Conversation)
	case c.Task != "" && !slices.Contains(c.By.Tasks, c.Task):
		return refusal.New(refusal.NotFound, "name a task that you take part in", "you have no task %s", c.Task)
	}
	return nil
}

// maySaySubject lets the agent whose conversation it is, and operators, say what it is about: all that was said in it is erased and held by that.
func (c AppendTurn) maySaySubject(s State) error {
	switch {
	case c.Subject == "" || c.Subject == s.Subject:
		return nil
	case !c.By.IsOperator() && !(State{ID: c.Conversation}).owns(c.By.Agent()):
		return refusal.New(refusal.NotPermitted, "omit the subject", "the agent whose conversation it is, or an operator, says what it is about")
	case s.Subject != "":
		return refusal.New(refusal.Conflict, "[begin another conversation](conversation log) for the other subject, or omit it", "the conversation is about %s", s.Subject)
	}
	return nil
}

// checkLimits refuses a turn that exceeds a limit of the conversation.
func (c AppendTurn) checkLimits(s State) error {
	var full string
	switch {
	case s.Turns >= MaxTurns:
		full = fmt.Sprintf("%d turns", s.Turns)
	case s.Bytes+len(c.Text) > MaxBytes:
		full = fmt.Sprintf("%d bytes", s.Bytes)
	case len(s.Speakers) >= MaxAgents && !s.Spoke(c.Agent):
		full = fmt.Sprintf("%d agents", len(s.Speakers))
	case c.Task != "" && len(s.Tasks) >= MaxTasks && !slices.Contains(s.Tasks, c.Task):
		full = fmt.Sprintf("%d tasks", len(s.Tasks))
	case len(s.Handoffs) >= MaxTasks && c.Handoff != "" && !slices.Contains(s.Handoffs, c.Handoff):
		full = fmt.Sprintf("%d handoffs", len(s.Handoffs))
	default:
		return nil
	}
	return refusal.New(refusal.Limit, "[begin a new conversation](conversation log) with [the continuity text](conversation continue) of this one", "conversation %s has %s and is full", c.Conversation, full)
}
