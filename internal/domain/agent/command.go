package agent

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
)

// Command asks for a change of one agent. The set is sealed.
type Command interface{ agent() string }

// Register creates the agent or replaces its spec, and keeps its readiness and circuit. Under the name of an agent that was removed, it creates
// another agent.
type Register struct {
	Name string
	Spec Spec
}

// SetReadiness says whether the agent takes new work. The last command counts, with one exception: an agent that an
// operator has made anything else than ready is made ready again by operators only ([DutyTable]). The command also ends
// a lapse of presence, until the next missed heartbeat.
type SetReadiness struct {
	Name      string
	Readiness Readiness
	By        identity.Principal // the agent itself, or an operator
}

// LapsePresence says that an agent that has a PresenceTTL has not been heard since LastHeard. Without one, or
// when LastHeard is less than that ago, nothing happens. After a restart the system counts from its own start.
type LapsePresence struct {
	Name      string
	LastHeard time.Time
}

// ReturnPresence says that an agent is heard. If its presence had lapsed, what it last said counts again.
type ReturnPresence struct {
	Name string
	// Connected says that it keeps in touch from now on: it sends heartbeats or waits for its inbox. A program without a PresenceTTL
	// then has the default one, so that it is offline when it is gone.
	Connected bool
}

// Remove removes the agent. What it has is not changed: it stays with this registration, and no later one of the name inherits it.
type Remove struct{ Name string }

// ReportOutcome tells the circuits how an offer or a lease ended.
type ReportOutcome struct {
	Name    string
	Sender  string // the principal whose handoff it was; empty: not known
	Cause   uint64 // position of the ledger entry that ended it, at least 1
	Outcome Outcome
	Task    string
	Handoff string
}

// ClaimProbe asks for the one handoff that may try a half-open circuit. It does nothing while the circuit is closed
// and for the handoff that has the probe already; otherwise it is refused (circuit_open) until the time it names. A
// handoff may need the probes of the shared circuit and of its sender's.
type ClaimProbe struct {
	Name    string
	Sender  string // the principal whose handoff it is
	Handoff string
}

// ResetCircuit closes the shared circuit and those of all senders, and clears their failures, as an operator.
type ResetCircuit struct{ Name string }

func (c Register) agent() string       { return c.Name }
func (c SetReadiness) agent() string   { return c.Name }
func (c LapsePresence) agent() string  { return c.Name }
func (c ReturnPresence) agent() string { return c.Name }
func (c Remove) agent() string         { return c.Name }
func (c ReportOutcome) agent() string  { return c.Name }
func (c ClaimProbe) agent() string     { return c.Name }
func (c ResetCircuit) agent() string   { return c.Name }
