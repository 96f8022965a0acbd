package phrase

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Bounds of a sentence, in bytes.
const (
	MaxText   = 8 << 10
	MaxDetail = 2 << 10
	maxWords  = 48 // before the reason
)

// Intent is the action that a sentence asks for. The set is closed.
type Intent string

// The intents.
const (
	Handoff    Intent = "handoff"    // hand a task to an agent
	Escalate   Intent = "escalate"   // hand a task upwards
	Takeover   Intent = "takeover"   // get a task from its owner
	History    Intent = "history"    // read the handoff history of a task
	Share      Intent = "share"      // give the context of a task to an agent, without the task
	Specialist Intent = "specialist" // hand a task to an agent with a capability
	Stuck      Intent = "stuck"      // an agent makes no progress: recover the task
	Active     Intent = "active"     // list the handoffs in progress
)

var intents = []Intent{Handoff, Escalate, Takeover, History, Share, Specialist, Stuck, Active}

// Intents lists every intent.
func Intents() []Intent { return slices.Clone(intents) }

// Reads reports whether an intent only reads.
func (i Intent) Reads() bool { return i == History || i == Active }

// Instruction is the meaning of a sentence. [Examples] shows the fields of each intent.
type Instruction struct {
	Intent     Intent `json:"intent"`
	Agent      string `json:"agent,omitempty"`
	Task       string `json:"task,omitempty"` // an id; empty for "this"
	Capability string `json:"capability,omitempty"`
	Detail     string `json:"detail,omitempty"` // the reason, word for word
}

// Canonical returns the canonical sentence of s. Parse returns s for it.
func (s Instruction) Canonical() string {
	this, of := "this", ""
	if s.Task != "" {
		this, of = s.Task, " of "+s.Task
	}
	text := ""
	switch s.Intent {
	case Handoff:
		text = "hand " + this + " off to " + quoteName(s.Agent)
	case Escalate:
		text = "escalate " + this
		if s.Agent != "" {
			text += " to " + quoteName(s.Agent)
		}
	case Takeover:
		text = "take over " + this
		if s.Agent != "" {
			text += " from " + quoteName(s.Agent)
		}
	case History:
		text = "show the handoff history" + of
	case Share:
		text = "transfer the context" + of + " to " + quoteName(s.Agent)
	case Specialist:
		text = this + " needs a specialist"
		if s.Capability != "" {
			text += " in " + quoteName(s.Capability)
		}
	case Stuck:
		text = s.stuck()
	case Active:
		return "show active handoffs"
	}
	if s.Detail != "" {
		text += " because " + quote(s.Detail)
	}
	return text
}

func (s Instruction) stuck() string {
	switch {
	case s.Agent == "" && s.Task == "":
		return "this is stuck"
	case s.Agent == "":
		return s.Task + " is stuck"
	case s.Task == "":
		return "agent " + quoteName(s.Agent) + " is stuck"
	}
	return "agent " + quoteName(s.Agent) + " is stuck on " + s.Task
}

// quoteName returns a name, in quotes if it would not be parsed as a name.
func quoteName(name string) string {
	if last := name[max(len(name)-1, 0):]; last == "." || last == "-" || reserved()[name] || (word{text: name}).isTask() {
		return quote(name)
	}
	return name
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

// check refuses malformed values.
func (s Instruction) check() error {
	if s.Agent != "" {
		if err := event.CheckAgent("the agent's name", s.Agent); err != nil {
			return err
		}
	}
	if s.Capability != "" {
		if err := event.CheckName("the capability", s.Capability); err != nil {
			return err
		}
	}
	if s.Task != "" {
		if err := event.CheckTaskID(s.Task); err != nil {
			return err
		}
	}
	if len(s.Detail) > MaxDetail {
		return refusal.New(refusal.TooLarge, "shorten it", "the reason has %d bytes, at most %d are allowed", len(s.Detail), MaxDetail)
	}
	return nil
}

// Examples returns example sentences, one for each intent and field.
func Examples() []string {
	return []string{
		"hand this off to AGENT because REASON",
		"escalate this",
		"escalate this to AGENT",
		"take over from AGENT",
		"what is the handoff history",
		"transfer context to AGENT",
		"this needs a specialist in CAPABILITY",
		"agent AGENT is stuck",
		"show active handoffs",
	}
}
