package routing

// Tier is the role in which an agent is considered.
type Tier string

// The tiers, in the order in which they are tried.
const (
	Target   Tier = "target"   // asked for, by name or capability
	Fallback Tier = "fallback" // named as a fallback by a target or another fallback
)

// Reason is the reason why an agent is eligible or not.
type Reason string

// The reasons. The first two are those of eligible agents.
const (
	Fit             Reason = "fit"
	FitAsProbe      Reason = "probe" // its circuit is half-open: claim the probe before the offer
	Excluded        Reason = "excluded"
	NotRegistered   Reason = "not_registered"
	NotReady        Reason = "not_ready" // busy or draining, or offline by the word of an operator
	Away            Reason = "away"      // offline, because it is not running: an offer can wait for it, if no other agent is eligible
	LacksCapability Reason = "lacks_capability"
	Full            Reason = "full"
	CircuitOpen     Reason = "circuit_open"
)

// Considered is one agent that was examined, with the result, in a form that is recorded.
type Considered struct {
	Agent    string `json:"agent"`
	Tier     Tier   `json:"tier"`
	Eligible bool   `json:"eligible"`
	Reason   Reason `json:"reason"`
	Why      string `json:"why"` // the reason in words
}

// Plan lists the agents to try, best first, with reasons.
type Plan struct {
	Considered []Considered `json:"considered"`        // by tier; a capability's eligible agents before the rest
	Omitted    int          `json:"omitted,omitempty"` // the number of further agents with the capability
}
