package timeline

// kind is how the entries of an event are read: in what colour, and whether an offer came to nothing by it.
type kind struct {
	tone string // good, bad, ask or ""
	vain bool
}

// kinds are all events of tasks, by name.
var kinds = map[string]kind{
	"task-created": {}, "task-started": {}, "lease-renewed": {}, "task-progress": {}, "constraint-set": {}, "constraint-lifted": {}, "envelope-sealed": {},
	"task-completed": {tone: "good"}, "task-failed": {tone: "bad"}, "task-cancelled": {tone: "bad"},
	"task-parked": {tone: "bad"}, "task-replayed": {tone: "good"}, "task-discarded": {tone: "bad"}, "budget-raised": {},

	"handoff-request": {}, "handoff-offered": {}, "handoff-seen": {}, "claim-joined": {}, "retry-scheduled": {}, "handoff-confirm": {},
	"handoff-acknowledgment": {tone: "good"}, "handoff-complete": {tone: "good"}, "handoff-returned": {tone: "bad"},
	"approval-asked": {tone: "ask"}, "handoff-approved": {tone: "good"}, "handoff-denied": {tone: "bad", vain: true},
	"handoff-rejected": {tone: "bad", vain: true}, "offer-expired": {tone: "bad", vain: true}, "offer-unanswered": {tone: "bad", vain: true}, "offer-shed": {tone: "bad", vain: true},
	"lease-lost": {tone: "bad"}, "owner-stuck": {tone: "bad"}, "takeover-asked": {tone: "ask"}, "takeover-refused": {tone: "ask"}, "advice-taken": {}, "task-kept": {},

	"children-spawned": {}, "child-ended": {}, "children-joined": {}, "dependency-ended": {},

	"ticket-opened": {tone: "ask"}, "ticket-claimed": {tone: "ask"}, "ticket-released": {tone: "ask"}, "ticket-reminded": {tone: "ask"}, "ticket-escalated": {tone: "ask"}, "ticket-closed": {tone: "ask"},

	"envelope-shared": {}, "share-read": {}, "notice-seen": {}, "envelope-rendered": {}, "entry-annotated": {}, "gap-reported": {},
}
