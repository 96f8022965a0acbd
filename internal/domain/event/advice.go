package event

// AdviceOutcome is what came of asking an adviser.
type AdviceOutcome string

// The outcomes of asking.
const (
	AdvisedHandOff AdviceOutcome = "handoff"
	AdvisedKeep    AdviceOutcome = "keep"
	AdviceRefused  AdviceOutcome = "refused" // malformed, or not allowed by the choices, a rule, a limit or a permission
	AdviceFailed   AdviceOutcome = "failed"  // there was no answer
)

// AdviceOutcomes lists every outcome of asking.
var AdviceOutcomes = NewSet("an adviser's outcome", AdvisedHandOff, AdvisedKeep, AdviceRefused, AdviceFailed)

func (o *AdviceOutcome) UnmarshalText(b []byte) error { return AdviceOutcomes.Decode(o, b) }

// AdviceRule is the rule of a decision that the adviser made.
const AdviceRule = "advice"

// The limits of a question to an adviser and of its answer, as they are recorded, in bytes.
const (
	MaxAdvicePrompt = 32 << 10
	MaxAdviceAnswer = 8 << 10
)
