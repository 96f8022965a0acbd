package event

// The names of the events, as the ledger, the audit trail and docs/events.md have them.

// EventName implements [Event].
func (Created) EventName() string { return "task-created" }

// EventName implements [Event].
func (Started) EventName() string { return "task-started" }

// EventName implements [Event].
func (LeaseRenewed) EventName() string { return "lease-renewed" }

// EventName implements [Event].
func (Progressed) EventName() string { return "task-progress" }

// EventName implements [Event].
func (Constrained) EventName() string { return "constraint-set" }

// EventName implements [Event].
func (Lifted) EventName() string { return "constraint-lifted" }

// EventName implements [Event].
func (Finished) EventName() string { return "task-completed" }

// EventName implements [Event].
func (GaveUp) EventName() string { return "task-failed" }

// EventName implements [Event].
func (Called) EventName() string { return "task-cancelled" }

// EventName implements [Event].
func (Sealed) EventName() string { return "envelope-sealed" }

// EventName implements [Event].
func (HandoffRequested) EventName() string { return "handoff-request" }

// EventName implements [Event].
func (ApprovalAsked) EventName() string { return "approval-asked" }

// EventName implements [Event].
func (Approved) EventName() string { return "handoff-approved" }

// EventName implements [Event].
func (Denied) EventName() string { return "handoff-denied" }

// EventName implements [Event].
func (OfferMade) EventName() string { return "handoff-offered" }

// EventName implements [Event].
func (Seen) EventName() string { return "handoff-seen" }

// EventName implements [Event].
func (ClaimJoined) EventName() string { return "claim-joined" }

// EventName implements [Event].
func (Acknowledged) EventName() string { return "handoff-acknowledgment" }

// EventName implements [Event].
func (RejectedOffer) EventName() string { return "handoff-rejected" }

// EventName implements [Event].
func (OfferExpired) EventName() string { return "offer-expired" }

// EventName implements [Event].
func (Unanswered) EventName() string { return "offer-unanswered" }

// EventName implements [Event].
func (RetryScheduled) EventName() string { return "retry-scheduled" }

// EventName implements [Event].
func (Confirmed) EventName() string { return "handoff-confirm" }

// EventName implements [Event].
func (Moved) EventName() string { return "handoff-complete" }

// EventName implements [Event].
func (Returned) EventName() string { return "handoff-returned" }

// EventName implements [Event].
func (LeaseLost) EventName() string { return "lease-lost" }

// EventName implements [Event].
func (OwnerStuck) EventName() string { return "owner-stuck" }

// EventName implements [Event].
func (OfferShed) EventName() string { return "offer-shed" }

// EventName implements [Event].
func (ParkedTask) EventName() string { return "task-parked" }

// EventName implements [Event].
func (Replayed) EventName() string { return "task-replayed" }

// EventName implements [Event].
func (Discarded) EventName() string { return "task-discarded" }

// EventName implements [Event].
func (Spawned) EventName() string { return "children-spawned" }

// EventName implements [Event].
func (ChildEnded) EventName() string { return "child-ended" }

// EventName implements [Event].
func (Joined) EventName() string { return "children-joined" }

// EventName implements [Event].
func (DependencyEnded) EventName() string { return "dependency-ended" }

// EventName implements [Event].
func (TakeoverAsked) EventName() string { return "takeover-asked" }

// EventName implements [Event].
func (TakeoverRefused) EventName() string { return "takeover-refused" }

// EventName implements [Event].
func (TicketOpened) EventName() string { return "ticket-opened" }

// EventName implements [Event].
func (TicketClaimed) EventName() string { return "ticket-claimed" }

// EventName implements [Event].
func (TicketReleased) EventName() string { return "ticket-released" }

// EventName implements [Event].
func (TicketReminded) EventName() string { return "ticket-reminded" }

// EventName implements [Event].
func (TicketEscalated) EventName() string { return "ticket-escalated" }

// EventName implements [Event].
func (TicketClosed) EventName() string { return "ticket-closed" }

// EventName implements [Event].
func (Shared) EventName() string { return "envelope-shared" }

// EventName implements [Event].
func (ShareRead) EventName() string { return "share-read" }

// EventName implements [Event].
func (Rendered) EventName() string { return "envelope-rendered" }

// EventName implements [Event].
func (GapReported) EventName() string { return "gap-reported" }

// EventName implements [Event].
func (Annotated) EventName() string { return "entry-annotated" }

// EventName implements [Event].
func (AdviceTaken) EventName() string { return "advice-taken" }
