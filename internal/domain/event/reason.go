package event

// Reason says why a task moves.
type Reason string

// The reasons of a handoff.
const (
	ReasonTimeout            Reason = "timeout"
	ReasonError              Reason = "error"
	ReasonCapabilityMismatch Reason = "capability_mismatch"
	ReasonUserRequest        Reason = "user_request"
	ReasonEscalation         Reason = "escalation"
	ReasonSpecialization     Reason = "specialization"
	ReasonRecovery           Reason = "recovery"
	ReasonLoadShedding       Reason = "load_shedding"
	ReasonSupervision        Reason = "supervision"
)

// Reasons lists every reason.
var Reasons = NewSet("a reason",
	ReasonTimeout, ReasonError, ReasonCapabilityMismatch, ReasonUserRequest, ReasonEscalation,
	ReasonSpecialization, ReasonRecovery, ReasonLoadShedding, ReasonSupervision,
)

func (r *Reason) UnmarshalText(b []byte) error { return Reasons.Decode(r, b) }
