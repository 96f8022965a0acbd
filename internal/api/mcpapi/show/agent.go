package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// OtherAgent is what a caller needs to know about another agent to hand a task to it.
type OtherAgent struct {
	Name         string   `json:"name"`
	Readiness    string   `json:"readiness"`
	Notes        string   `json:"known,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Description  string   `json:"description,omitempty"`
}

// OtherAgentOf describes an agent. Its notes come from the server and not from the agent: when it was last seen, how many tasks it
// holds, and the state of its circuit breaker.
func OtherAgentOf(a client.Agent, now time.Time) OtherAgent {
	var notes []string
	switch away := now.Sub(a.Seen).Truncate(time.Minute); {
	case a.Seen.IsZero():
		notes = append(notes, "not seen since the server started")
	case away > 0:
		notes = append(notes, "last seen "+client.Duration(away).String()+" ago")
	}
	switch {
	case a.Spec.MaxTasks > 0:
		notes = append(notes, fmt.Sprintf("holds %d of %d", a.Held, a.Spec.MaxTasks))
	case a.Held > 0:
		notes = append(notes, fmt.Sprintf("holds %d", a.Held))
	}
	if a.Circuit.State != "closed" {
		notes = append(notes, circuitOf(a.Circuit, ""))
	}
	for _, p := range a.SenderCircuits {
		notes = append(notes, circuitOf(p.Circuit, " for handoffs of "+p.Sender))
	}
	return OtherAgent{a.Name, string(a.Readiness), strings.Join(notes, ", "), a.Spec.Capabilities, Clip(OneLine(a.Spec.Description), 120)}
}

// circuitOf describes a circuit breaker that is not closed, and for whose handoffs.
func circuitOf(c client.Circuit, of string) string {
	s := "circuit " + strings.ReplaceAll(c.State, "_", " ") + of
	if !c.ResetAt.IsZero() {
		s += " until " + c.ResetAt.UTC().Format(time.RFC3339)
	}
	return s
}

// HumanKind is the kind of agents that are people.
const HumanKind = "human"
