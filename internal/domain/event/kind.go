package event

// Kind is what sort of handoff it is.
type Kind string

// The kinds of handoff.
const (
	Warm       Kind = "warm"       // with its full context
	Cold       Kind = "cold"       // the task's description only; allowed, but flagged
	Supervised Kind = "supervised" // a person or an agent approves before it is offered
	Broadcast  Kind = "broadcast"  // to several receivers: the first wins (claim), or each gets a copy (fan-out)
	Delegation Kind = "delegation" // the sender waits for the result and gets it back
)

// Kinds lists every kind of handoff.
var Kinds = NewSet("a kind", Warm, Cold, Supervised, Broadcast, Delegation)

func (k *Kind) UnmarshalText(b []byte) error { return Kinds.Decode(k, b) }
