package event

// Event is something that happened to a task. Its JSON is frozen once released: optional fields may be added; any other change
// is a new version of the event, with a function that converts the old one.
type Event interface {
	// EventName is the event's name in the ledger and in every audit trail.
	EventName() string
}

// Events holds one value of every event type, for codecs and tests.
var Events = []Event{
	Created{},
	Started{},
	LeaseRenewed{},
	Progressed{},
	Constrained{},
	Lifted{},
	Finished{},
	GaveUp{},
	Called{},
	Sealed{},
	HandoffRequested{},
	ApprovalAsked{},
	Approved{},
	Denied{},
	OfferMade{},
	Seen{},
	ClaimJoined{},
	Acknowledged{},
	RejectedOffer{},
	OfferExpired{},
	Unanswered{},
	RetryScheduled{},
	Confirmed{},
	Moved{},
	Returned{},
	LeaseLost{},
	OwnerStuck{},
	OfferShed{},
	ParkedTask{},
	Replayed{},
	BudgetRaised{},
	Discarded{},
	Spawned{},
	ChildEnded{},
	Joined{},
	DependencyEnded{},
	TakeoverAsked{},
	TakeoverRefused{},
	TicketOpened{},
	TicketClaimed{},
	TicketReleased{},
	TicketReminded{},
	TicketEscalated{},
	TicketClosed{},
	Shared{},
	ShareRead{},
	NoticeSeen{},
	Rendered{},
	Annotated{},
	GapReported{},
	AdviceTaken{},
	Kept{},
}

// Standing is the state of a task as it is recorded before and after each handoff.
type Standing struct {
	State        State        `json:"state"`
	Owner        string       `json:"owner,omitempty"`
	Epoch        uint64       `json:"epoch"`
	Permissions  []string     `json:"permissions,omitzero"`
	Dependencies []Dependency `json:"dependencies,omitempty"`
}
