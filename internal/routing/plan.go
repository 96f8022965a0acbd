package routing

import "time"

// Tier says in which role an agent is considered.
type Tier string

// The tiers, in the order in which they are tried.
const (
	Target   Tier = "target"   // asked for, by name or capability
	Fallback Tier = "fallback" // named by a target, or by a fallback, to stand in
)

// Reason says why an agent is eligible or passed over.
type Reason string

// The reasons. The first two are of eligible agents.
const (
	Fit             Reason = "fit"
	FitAsProbe      Reason = "probe" // its circuit is half-open: claim the probe before the offer
	Excluded        Reason = "excluded"
	NotRegistered   Reason = "not_registered"
	NotReady        Reason = "not_ready" // busy, draining or offline
	LacksCapability Reason = "lacks_capability"
	Full            Reason = "full"
	CircuitOpen     Reason = "circuit_open"
)

// Considered is one agent that was looked at, and what came of it. It is made to be recorded.
type Considered struct {
	Agent    string `json:"agent"`
	Tier     Tier   `json:"tier"`
	Eligible bool   `json:"eligible"`
	Reason   Reason `json:"reason"`
	Why      string `json:"why"` // the reason in words
	// AsOf is how old the knowledge is that this rests on; zero if it was current.
	AsOf time.Time `json:"as_of,omitzero"`
}

// Plan says whom to try and why, best first.
type Plan struct {
	Considered []Considered `json:"considered"`        // by tier; a capability's eligible agents before the rest
	Omitted    int          `json:"omitted,omitempty"` // how many more agents with the capability there are
}
