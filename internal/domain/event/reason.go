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

var reasons = NewSet("reason",
	ReasonTimeout, ReasonError, ReasonCapabilityMismatch, ReasonUserRequest, ReasonEscalation,
	ReasonSpecialization, ReasonRecovery, ReasonLoadShedding, ReasonSupervision,
)

// Reasons lists every reason.
func Reasons() []Reason { return reasons.Values() }

// UnmarshalText refuses unknown reasons.
func (r *Reason) UnmarshalText(b []byte) error { return reasons.Decode(r, b) }
