package policy

import (
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Situation is what rules look at: a task, the agent that holds it, and what the newest envelope says. Its JSON is what
// `trapeze policy test` takes as a sample. Treat one that rules have looked at as immutable.
type Situation struct {
	Task     TaskView     `json:"task" yaml:"task"`
	Agent    AgentView    `json:"agent,omitzero" yaml:"agent"`
	Envelope EnvelopeView `json:"envelope,omitzero" yaml:"envelope"`
}

// TaskView is a task as rules see it.
type TaskView struct {
	ID          string         `json:"id,omitempty" yaml:"id"`
	Intent      string         `json:"intent" yaml:"intent"`
	Tags        []string       `json:"tags,omitempty" yaml:"tags"`
	Priority    event.Priority `json:"priority,omitempty" yaml:"priority"`
	State       event.State    `json:"state,omitempty" yaml:"state"`
	Requester   string         `json:"requester,omitempty" yaml:"requester"`
	Parent      string         `json:"parent,omitempty" yaml:"parent"`
	Steps       int            `json:"steps,omitempty" yaml:"steps"` // progress reports, decisions handed over and changes of owner
	Hops        int            `json:"hops,omitempty" yaml:"hops"`
	Handoffs    int            `json:"handoffs,omitempty" yaml:"handoffs"`
	Escalations int            `json:"escalations,omitempty" yaml:"escalations"`
	Tokens      int64          `json:"tokens,omitempty" yaml:"tokens"`
	Cost        int64          `json:"cost_micros,omitempty" yaml:"cost_micros"`
	Budget      event.Budget   `json:"budget,omitzero" yaml:"budget"`
	Elapsed     event.Duration `json:"elapsed,omitzero" yaml:"elapsed"` // since it was created
	Progress    string         `json:"progress,omitempty" yaml:"progress"`
	Permissions []string       `json:"permissions,omitzero" yaml:"permissions"` // absent: not restricted; empty: none
}

// AgentView is the agent that holds the task, as rules see it; its name is empty if nobody does.
type AgentView struct {
	Name          string   `json:"name,omitempty" yaml:"name"`
	Kind          string   `json:"kind,omitempty" yaml:"kind"`
	Capabilities  []string `json:"capabilities,omitempty" yaml:"capabilities"`
	Readiness     string   `json:"readiness,omitempty" yaml:"readiness"`
	Held          int      `json:"held,omitempty" yaml:"held"`
	MaxTasks      int      `json:"max_tasks,omitempty" yaml:"max_tasks"`
	Failures      int      `json:"failures,omitempty" yaml:"failures"` // in a row
	ContextWindow int      `json:"context_window,omitempty" yaml:"context_window"`
}

// EnvelopeView is what the newest envelope says, with what the sender adds to it.
type EnvelopeView struct {
	State         string          `json:"state,omitempty" yaml:"state"`
	Ask           string          `json:"ask,omitempty" yaml:"ask"`
	Summary       string          `json:"summary,omitempty" yaml:"summary"`
	Facts         []string        `json:"facts,omitempty" yaml:"facts"`
	Decisions     []string        `json:"decisions,omitempty" yaml:"decisions"`
	OpenQuestions []string        `json:"open_questions,omitempty" yaml:"open_questions"`
	Confidence    *float64        `json:"confidence,omitempty" yaml:"confidence"`
	Data          json.RawMessage `json:"data,omitempty" yaml:"data"`
}

// ReadSituation reads a sample of a situation, as YAML or JSON. What does not fit is a problem, with line and column.
func ReadSituation(file string, text []byte) (Situation, Problems) {
	var s Situation
	r := &reader{file: file, places: places{}}
	r.document(text, &s)
	if len(r.problems) > 0 {
		return Situation{}, r.problems.sorted()
	}
	return s, nil
}
