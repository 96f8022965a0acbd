package event

import "time"

// HandoffRequested is the first message of the handshake.
type HandoffRequested struct {
	Handoff     int         `json:"handoff"`
	Kind        Kind        `json:"kind"`
	Claim       bool        `json:"claim,omitempty"`
	From        string      `json:"from"`
	Recovery    bool        `json:"recovery,omitempty"`
	Stuck       bool        `json:"stuck,omitempty"` // a recovery that the owner ends by progress, and not by a sign of life
	Reason      Reason      `json:"reason"`
	Detail      string      `json:"detail,omitempty"`
	Capability  string      `json:"capability,omitempty"`
	Chain       string      `json:"chain,omitempty"`   // the escalation chain that its candidates' levels count in
	Channel     string      `json:"channel,omitempty"` // that the task was published to: its subscribers are the targets
	Candidates  []Candidate `json:"candidates,omitempty"`
	Passed      []Passed    `json:"passed_over,omitempty"`
	Confirm     ConfirmMode `json:"confirm"`
	Timeouts    Timeouts    `json:"timeouts"`
	Retries     int         `json:"retries"`
	ReturnHome  bool        `json:"return_home,omitempty"`
	Approver    string      `json:"approver,omitempty"`
	Envelope    string      `json:"envelope"`
	Permissions []string    `json:"permissions,omitzero"`
	NewWork     bool        `json:"new_work,omitempty"`
	RouteStep   bool        `json:"route_step,omitempty"` // once transferred, the next stop is removed from the task's route
	Attempt     bool        `json:"attempt,omitempty"`    // a recovery that counts against the attempts limit; if a principal asked for it, once the owner is replaced
	Decision    *Decision   `json:"decision,omitempty"`   // of routing, for a handoff to "auto"
	Ticket      int         `json:"ticket,omitempty"`     // of the desk that a person takes the task from: counts against no limit
	By          string      `json:"by,omitempty"`         // the principal that asked for it, and may not approve it
	Pack        Pack        `json:"pack,omitzero"`        // how its envelope is packed
	Lease       time.Time   `json:"lease,omitzero"`       // asking was a sign of life
	Before      Standing    `json:"before"`
	At          time.Time   `json:"at"`
}

// EventName implements [Event].
func (HandoffRequested) EventName() string { return "handoff-request" }

// ApprovalAsked: a supervised handoff waits for its approver or an operator. It opens the task's next ticket.
type ApprovalAsked struct {
	Approver string    `json:"approver,omitempty"`
	Envelope string    `json:"envelope"`
	Ends     time.Time `json:"ends"`
}

// EventName implements [Event].
func (ApprovalAsked) EventName() string { return "approval-asked" }

// Approved: a supervised handoff may go on, with this envelope and to these receivers only.
type Approved struct {
	By       string    `json:"by"`
	Detail   string    `json:"detail,omitempty"`
	Envelope string    `json:"envelope"`
	To       []string  `json:"to"`
	Deadline time.Time `json:"deadline,omitzero"` // moved by the time that the approval took
	Lease    time.Time `json:"lease,omitzero"`
	At       time.Time `json:"at,omitzero"`
}

// EventName implements [Event].
func (Approved) EventName() string { return "handoff-approved" }

// Denied: the approver denied the handoff, which returns.
type Denied struct {
	By     string    `json:"by"`
	Detail string    `json:"detail"`
	At     time.Time `json:"at,omitzero"`
}

// EventName implements [Event].
func (Denied) EventName() string { return "handoff-denied" }

// OfferMade: the handoff is offered to a receiver, or to all candidates of a claim.
type OfferMade struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	To      []string  `json:"to"`
	Tier    Tier      `json:"tier"`
	Next    int       `json:"next"`             // index of the candidate offered to
	Try     int       `json:"try"`              // 0 for the first offer to this candidate
	Reason  Reason    `json:"reason,omitempty"` // of offering to this candidate, if it is not the handoff's
	Passed  []Passed  `json:"passed_over,omitempty"`
	Ends    time.Time `json:"ends"`
}

// EventName implements [Event].
func (OfferMade) EventName() string { return "handoff-offered" }

// Seen: a receiver fetched the offer, or it was delivered to it.
type Seen struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	Agent   string    `json:"agent"`
	Ends    time.Time `json:"ends,omitzero"` // the acknowledgment clock; none for a claim
}

// EventName implements [Event].
func (Seen) EventName() string { return "handoff-seen" }

// ClaimJoined: an agent that became ready joins an open claim.
type ClaimJoined struct {
	Handoff int    `json:"handoff"`
	Agent   string `json:"agent"`
}

// EventName implements [Event].
func (ClaimJoined) EventName() string { return "claim-joined" }

// Acknowledged is the second message: the receiver accepts.
type Acknowledged struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	Agent   string    `json:"agent"`
	Ends    time.Time `json:"ends,omitzero"` // when an explicit confirm is overdue
}

// EventName implements [Event].
func (Acknowledged) EventName() string { return "handoff-acknowledgment" }

// RejectedOffer: a receiver rejected the offer.
type RejectedOffer struct {
	Handoff int       `json:"handoff"`
	Offer   int       `json:"offer"`
	Agent   string    `json:"agent"`
	Why     Rejection `json:"why"`
	Missing []string  `json:"missing,omitempty"`
	Detail  string    `json:"detail,omitempty"`
}

// EventName implements [Event].
func (RejectedOffer) EventName() string { return "handoff-rejected" }

// OfferExpired: nobody saw the offer in time.
type OfferExpired struct {
	Handoff int      `json:"handoff"`
	Offer   int      `json:"offer"`
	To      []string `json:"to"`
}

// EventName implements [Event].
func (OfferExpired) EventName() string { return "offer-expired" }

// Unanswered: the receiver saw the offer and did not answer in time. The circuit breaker counts the first of a handoff.
type Unanswered struct {
	Handoff int    `json:"handoff"`
	Offer   int    `json:"offer"`
	Agent   string `json:"agent"`
	Sender  string `json:"sender,omitempty"` // the principal on whose account it was offered
	Again   bool   `json:"again,omitempty"`  // an earlier offer of the handoff to the agent went unanswered too: one failure, not two
}

// EventName implements [Event].
func (Unanswered) EventName() string { return "offer-unanswered" }

// RetryScheduled: the same receiver gets another offer, or its first, after a pause.
type RetryScheduled struct {
	Handoff int       `json:"handoff"`
	Agent   string    `json:"agent"`
	Try     int       `json:"try"`
	At      time.Time `json:"at"`
}

// EventName implements [Event].
func (RetryScheduled) EventName() string { return "retry-scheduled" }

// Confirmed is the third message: the source lets go.
type Confirmed struct {
	Handoff  int    `json:"handoff"`
	By       string `json:"by"`
	Auto     bool   `json:"auto,omitempty"`
	Envelope string `json:"envelope,omitempty"` // a delta with last notes
	Detail   string `json:"detail,omitempty"`   // why a takeover was granted
}

// EventName implements [Event].
func (Confirmed) EventName() string { return "handoff-confirm" }

// Moved is the fourth message, "handoff-complete": ownership has moved.
type Moved struct {
	Handoff  int       `json:"handoff"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Sender   string    `json:"sender,omitempty"` // the principal on whose account it was offered, if that is not the source
	Epoch    uint64    `json:"epoch"`
	Lease    time.Time `json:"lease"`
	Hop      bool      `json:"hop,omitempty"`   // counts against the hop limit
	Human    bool      `json:"human,omitempty"` // to a person, who sends no signs of life
	Delivery string    `json:"envelope"`
	After    Standing  `json:"after"`
	At       time.Time `json:"at"`
}

// EventName implements [Event].
func (Moved) EventName() string { return "handoff-complete" }

// Returned: the handoff is over and the task is back with its source, as it was.
type Returned struct {
	Handoff int       `json:"handoff"`
	Outcome Stage     `json:"outcome"`
	Why     string    `json:"why"`
	Lease   time.Time `json:"lease,omitzero"`
	// Deadline replaces the task's deadline, which an approval moves by the time that it was pending.
	Deadline time.Time `json:"deadline,omitzero"`
	// TakeUpBy is when the requester of a task that nobody owns must have taken it up. Records from before requesters had a time for it
	// lack it, and no clock runs.
	TakeUpBy time.Time `json:"take_up_by,omitzero"`
	// Tell reports that the task was taken back by another principal than its source, which is told.
	Tell  bool      `json:"tell,omitempty"`
	After Standing  `json:"after,omitzero"`
	At    time.Time `json:"at"`
}

// EventName implements [Event].
func (Returned) EventName() string { return "handoff-returned" }

// OfferShed: an open offer was withdrawn from an agent that has too much to do. It goes to agents that have capacity, and then on as if the agent had rejected it.
type OfferShed struct {
	Handoff int      `json:"handoff"`
	Offer   int      `json:"offer"`
	Agent   string   `json:"agent"`
	To      []string `json:"to"` // the next candidates, best first
	By      string   `json:"by"`
	Why     string   `json:"why"`
}

// EventName implements [Event].
func (OfferShed) EventName() string { return "offer-shed" }

// TakeoverAsked: an agent asked its owner for the task.
type TakeoverAsked struct {
	Takeover int    `json:"ask"`
	By       string `json:"by"`
	Detail   string `json:"detail,omitempty"`
}

// EventName implements [Event].
func (TakeoverAsked) EventName() string { return "takeover-asked" }

// TakeoverRefused: the owner keeps the task.
type TakeoverRefused struct {
	Takeover int    `json:"ask"`
	By       string `json:"by"`
	Detail   string `json:"detail,omitempty"`
}

// EventName implements [Event].
func (TakeoverRefused) EventName() string { return "takeover-refused" }

// AdviceTaken: no rule of the policy matched, and the adviser was asked for a receiver. It is recorded whatever the answer was,
// and does not change the task: a handoff that follows is an event of its own.
type AdviceTaken struct {
	Model   string        `json:"model"`
	Outcome AdviceOutcome `json:"outcome"`
	// Why is the adviser's reason, or what is wrong with its answer, or why there is none.
	Why        string   `json:"why"`
	To         Receiver `json:"to,omitzero"`
	Kind       Kind     `json:"kind,omitempty"`
	Reason     Reason   `json:"reason,omitempty"`
	Confidence float64  `json:"confidence,omitzero"`
	Prompt     string   `json:"prompt,omitempty"` // at most MaxAdvicePrompt bytes
	Answer     string   `json:"answer,omitempty"` // at most MaxAdviceAnswer bytes
	Tokens     int64    `json:"tokens,omitzero"`
	Tries      int      `json:"tries,omitzero"`
	Took       Duration `json:"took,omitzero"`
	Policy     string   `json:"policy,omitempty"` // digest of the policy in force
}

// EventName implements [Event].
func (AdviceTaken) EventName() string { return "advice-taken" }

// Kept: the policy was asked for a receiver, and the task stays where it is. It does not change the task.
type Kept struct {
	Decision Decision `json:"decision"` // to keep it, and why
}

// EventName implements [Event].
func (Kept) EventName() string { return "task-kept" }
