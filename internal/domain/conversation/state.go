package conversation

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Role is what a speaker is in a conversation.
type Role string

// The roles.
const (
	User      Role = "user"      // the person or program that wants something
	Assistant Role = "assistant" // the agent
	System    Role = "system"    // instructions
	Tool      Role = "tool"      // what a tool said
)

// Roles lists every role.
var Roles = event.NewSet("a role", User, Assistant, System, Tool)

// UnmarshalText implements encoding.TextUnmarshaler. It refuses (invalid) unknown roles.
func (r *Role) UnmarshalText(b []byte) error {
	if v := Role(b); Roles.Has(v) {
		*r = v
		return nil
	}
	return unknownRole(string(b))
}

func unknownRole(s string) error {
	return refusal.New(refusal.Invalid, "use "+event.OneOf(Roles.Values()),
		"unknown role %s", strconv.QuoteToASCII(refusal.Clip(s, 40)))
}

// Turn is one message.
type Turn struct {
	N       int       `json:"n"`     // from 1
	Agent   string    `json:"agent"` // in whose session it was said, whatever the role; by name
	Role    Role      `json:"role"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
	Task    string    `json:"task,omitempty"`    // in the course of which task
	Handoff string    `json:"handoff,omitempty"` // and of which of its handoffs
	By      string    `json:"by"`                // the principal that logged it
}

// Speaker is an agent that took part, and how often.
type Speaker struct {
	Agent string `json:"agent"`
	Turns int    `json:"turns"`
}

// State is the state of one conversation without the text of its turns, which are in its stream and, by number, in the
// views. The zero State is a conversation that has not begun. It is immutable: do not change the slices in it.
type State struct {
	ID       string    `json:"id"`
	Turns    int       `json:"turns"`              // how many there are
	Speakers []Speaker `json:"speakers"`           // in order of their first turn
	Tasks    []string  `json:"tasks,omitempty"`    // those that turns belong to, likewise
	Handoffs []string  `json:"handoffs,omitempty"` // likewise
	Subject  string    `json:"subject,omitempty"`  // that it is about, by which it can be erased
	Request  int       `json:"request,omitempty"`  // number of a user's first turn; 0 if there is none
	Bytes    int       `json:"bytes"`              // of all texts
	// Since are the times from before which agents that have spoken read nothing, and TaskSince those of the holders of its tasks.
	Since     map[string]time.Time `json:"since,omitempty"`
	TaskSince map[string]time.Time `json:"task_since,omitempty"`
	CreatedAt time.Time            `json:"created_at"`
	UpdatedAt time.Time            `json:"updated_at"`
}

// Exists reports whether the conversation has begun.
func (s State) Exists() bool { return s.Turns > 0 }

// Spoke reports whether an agent, by name, has said something in it.
func (s State) Spoke(agent string) bool {
	return slices.ContainsFunc(s.Speakers, func(k Speaker) bool { return k.Agent == agent })
}

// MayRead reports whether a reader may read a conversation: it is its own, it has spoken in it, takes part in one of its tasks, or in one that carries it along.
// [AppendTurn] says which of these may add to it. The state must come from the reader's own workspace.
func MayRead(s State, r memory.Reader) bool {
	if !s.Exists() || r.IsZero() {
		return false
	}
	return r.ReadsAny() || takesPart(s, r)
}

// MayReadTurn reports whether a reader that may read the conversation reads a turn of it: not what was said before the cold handoff by which it came here, and
// as a former owner that has not spoken, not what was said after it lost the task.
func MayReadTurn(s State, r memory.Reader, t Turn) bool {
	switch agent := r.Agent(); {
	case !r.Since.IsZero() && !t.At.After(r.Since):
		return false
	case r.ReadsAny() || s.owns(agent) || agent != "" && t.Agent == agent:
		return true
	case agent != "" && s.Spoke(agent):
		return s.Since[agent].IsZero() || t.At.After(s.Since[agent])
	}
	return slices.ContainsFunc(r.Heard, func(h memory.Span) bool { return h.Covers(t.At, t.At) })
}

// TakesPart reports whether an agent reads a conversation by itself: it is its own, or it has spoken in it.
func (s State) TakesPart(agent string) bool { return agent != "" && (s.owns(agent) || s.Spoke(agent)) }

func (s State) owns(agent string) bool {
	_, owner := conversationid.Parse(s.ID)
	return agent != "" && owner == agent
}

func takesPart(s State, r memory.Reader) bool {
	return s.TakesPart(r.Agent()) || slices.Contains(r.Conversations, s.ID) ||
		slices.ContainsFunc(s.Tasks, func(t string) bool { return slices.Contains(r.Tasks, t) })
}

// Carries reports whether a task that belongs to the conversation lets its owner read it: if it is the own of the task's requester, who may also have spoken in it or
// be no agent. An agent that reads it by a task alone cannot pass it on to another task.
func Carries(s State, requester string) bool {
	name, isAgent := strings.CutPrefix(requester, "agent/")
	return s.Exists() && (!isAgent || s.TakesPart(name))
}
