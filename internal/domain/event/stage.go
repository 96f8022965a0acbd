package event

// Stage is where a handoff is in its life.
type Stage string

// The handoff stages. All from Transferred on are final.
const (
	Requested        Stage = "requested"
	AwaitingApproval Stage = "awaiting_approval"
	Offered          Stage = "offered"
	Accepted         Stage = "accepted"
	Transferred      Stage = "transferred"
	Rejected         Stage = "rejected"
	Expired          Stage = "expired"
	Undeliverable    Stage = "failed"
	DeadLettered     Stage = "parked"
	Withdrawn        Stage = "cancelled"
	AtDesk           Stage = "at_desk" // only people are left to ask: a ticket is open for them
)

// Stages lists every stage of a handoff.
var Stages = NewSet("a stage",
	Requested, AwaitingApproval, Offered, Accepted, Transferred, Rejected, Expired, Undeliverable,
	DeadLettered, Withdrawn, AtDesk,
)

func (s *Stage) UnmarshalText(b []byte) error { return Stages.Decode(s, b) }

// Final reports whether the handoff is over.
func (s Stage) Final() bool { return Stages.Index(s) >= Stages.Index(Transferred) }
