package agent

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Readiness is whether an agent takes new work.
type Readiness string

// The kinds of readiness. Only a ready agent is offered work.
const (
	Ready    Readiness = "ready"
	Busy     Readiness = "busy"     // for now it takes nothing more
	Draining Readiness = "draining" // it finishes what it holds and takes nothing more
	Offline  Readiness = "offline"  // it is not running
)

// Readinesses lists every readiness.
var Readinesses = event.NewSet("a readiness", Ready, Busy, Draining, Offline)

// Author says who changed an agent's readiness: the agent itself, or an operator. The entry's actor says exactly who.
type Author string

// Those who may change readiness.
const (
	ByAgent    Author = "agent"
	ByOperator Author = "operator"
)

// State is the state of one agent. The zero State is an agent that was never registered. It is
// immutable: do not change the slices in it.
type State struct {
	Name           string          `json:"name"` // its identity: see [event.AgentID]
	Spec           Spec            `json:"spec"`
	Said           Readiness       `json:"said"`             // what the agent or an operator last said
	Lapsed         bool            `json:"lapsed,omitempty"` // its heartbeats have stopped
	Off            bool            `json:"off,omitempty"`    // off duty: see Duty
	Removed        bool            `json:"removed,omitempty"`
	Circuit        Circuit         `json:"circuit"`         // shared by all senders
	SenderCircuits []SenderCircuit `json:"pairs,omitempty"` // the circuits of single senders, by sender; only those that have failures

	RegisteredAt time.Time `json:"registered_at,omitzero"`
	Registration int       `json:"registration,omitempty"` // 0 is 1
}

// Exists reports whether the agent is registered now.
func (s State) Exists() bool { return s.Name != "" && !s.Removed }

// Duty is whether the agent may make itself ready, or an operator has taken it off duty.
func (s State) Duty() Duty {
	if s.Off {
		return OffDuty
	}
	return OnDuty
}

// keepsPresence reports whether the agent needs no lease of presence when it connects: it has one, or it is a person, who is there
// without a call.
func (s State) keepsPresence() bool { return s.Spec.PresenceTTL > 0 || s.Spec.Kind == KindHuman }

// Connecting reports whether a sign of life changes the agent: see [ReturnPresence].
func (s State) Connecting(connected bool) bool {
	return s.Exists() && (s.Lapsed || connected && !s.keepsPresence())
}

// Away reports whether the agent is offline because it is not running, and not by the word of an operator: offers can wait for it.
func (s State) Away() bool { return s.Exists() && !s.Off && s.Readiness() == Offline }

// Readiness is what counts now: what was last said, or offline while heartbeats are missing.
func (s State) Readiness() Readiness {
	if s.Lapsed || !s.Exists() {
		return Offline
	}
	return s.Said
}
