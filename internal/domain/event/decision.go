package event

// Action is what a decision comes to.
type Action string

// The actions.
const (
	ActionKeep    Action = "keep"    // the task stays where it is
	ActionHandOff Action = "handoff" // to whoever the decision names
)

var actions = []Action{ActionKeep, ActionHandOff}

// UnmarshalText refuses unknown actions.
func (a *Action) UnmarshalText(b []byte) error { return parse(a, "action", b, actions) }

// Bounds of a decision as it is recorded.
const (
	MaxWeighed = 16 // receivers
	MaxBroken  = 8  // rules
)

// Decision is what routing made of a handoff to "auto", and why. It is recorded with the handoff that it leads to.
type Decision struct {
	Policy string `json:"policy,omitempty"` // digest of the policy in force; empty: none
	// Rule is the name of the rule that decided; "advice" if the adviser did, empty if nobody.
	Rule   string   `json:"rule,omitempty"`
	Why    []string `json:"why,omitempty"` // what of the rule held, or why nobody decided
	Action Action   `json:"action"`
	To     Receiver `json:"to,omitzero"`
	Kind   Kind     `json:"kind,omitempty"`
	Reason Reason   `json:"reason,omitempty"`
	Detail string   `json:"detail,omitempty"`
	// Approver is the agent that must approve it, and Pack how it is packed, as the rule says.
	Approver string `json:"approver,omitempty"`
	Pack     Pack   `json:"pack,omitzero"`
	// Weighed are those who could receive it, best first, each with why it was taken or passed over; Omitted is how many more
	// there are.
	Weighed []Weighed `json:"weighed,omitempty"`
	Omitted int       `json:"omitted,omitempty"`
	// Broken are rules whose expressions could not be evaluated, each with its name and why.
	Broken []string `json:"broken,omitempty"`
}

// Receiver is to whom a decision hands off: exactly one field is set.
type Receiver struct {
	Agent      string `json:"agent,omitempty"`
	Capability string `json:"capability,omitempty"`
	Channel    string `json:"channel,omitempty"`
	Chain      string `json:"chain,omitempty"`
	Desk       string `json:"desk,omitempty"` // of people
}

// Weighed is a possible receiver, and what came of it.
type Weighed struct {
	Agent string `json:"agent,omitempty"`
	Desk  string `json:"desk,omitempty"`
	Tier  Tier   `json:"tier"`
	Fit   bool   `json:"fit"`
	Why   string `json:"why"`
}

// AdviceRule is what a decision has as its rule where the adviser made it.
const AdviceRule = "advice"

// Bounds of what was asked of an adviser, and answered, as it is recorded.
const (
	MaxAdvicePrompt = 32 << 10
	MaxAdviceAnswer = 8 << 10
)

// AdviceTaken: no rule of the policy matched, so an adviser was told of the task and asked where it should go. It is on record
// whether anything came of it or not. What the task is decides nothing of it: the handoff, if there is one, says so itself.
type AdviceTaken struct {
	Model   string        `json:"model"`
	Outcome AdviceOutcome `json:"outcome"`
	// Why is the adviser's reason, or what was wrong with its answer, or why none came.
	Why        string   `json:"why"`
	To         Receiver `json:"to,omitzero"`
	Kind       Kind     `json:"kind,omitempty"`
	Reason     Reason   `json:"reason,omitempty"`
	Confidence float64  `json:"confidence,omitzero"`
	Prompt     string   `json:"prompt,omitempty"` // as it was asked, up to 32 KiB
	Answer     string   `json:"answer,omitempty"` // as it came, up to 8 KiB
	Tokens     int64    `json:"tokens,omitzero"`
	Tries      int      `json:"tries,omitzero"`
	Took       Duration `json:"took,omitzero"`
	Policy     string   `json:"policy,omitempty"` // digest of the policy in force
}

// AdviceOutcome is what came of asking an adviser.
type AdviceOutcome string

// The outcomes of asking.
const (
	AdvisedHandOff AdviceOutcome = "handoff"
	AdvisedKeep    AdviceOutcome = "keep"
	AdviceRefused  AdviceOutcome = "refused" // it could not be followed: against its form, the choices, a rule, a limit or a permission
	AdviceFailed   AdviceOutcome = "failed"  // none came
)

var adviceOutcomes = []AdviceOutcome{AdvisedHandOff, AdvisedKeep, AdviceRefused, AdviceFailed}

// UnmarshalText refuses unknown outcomes.
func (o *AdviceOutcome) UnmarshalText(b []byte) error {
	return parse(o, "adviser's outcome", b, adviceOutcomes)
}
