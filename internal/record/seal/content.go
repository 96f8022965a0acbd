package seal

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const (
	result   = "result.text result.data result.review "
	expected = "expected.format expected.criteria expected.schema "
)

// contents lists, of each event, the paths of the fields that say what a task, a memory item or a conversation is about. Every other
// field says what happened, when and by whom. A test holds the list against the types of the events.
var contents = compile(map[string]string{
	event.Created{}.EventName():          "intent claimed_history constraints.text " + expected,
	event.Constrained{}.EventName():      "constraint.text own.text",
	event.Lifted{}.EventName():           "why constraint.text after.text own.text",
	event.Sealed{}.EventName():           "envelope",
	event.Rendered{}.EventName():         "envelope",
	event.Progressed{}.EventName():       "note",
	event.Finished{}.EventName():         result,
	event.GaveUp{}.EventName():           result + "detail",
	event.Called{}.EventName():           "detail",
	event.OwnerStuck{}.EventName():       "detail",
	event.ParkedTask{}.EventName():       "detail",
	event.Replayed{}.EventName():         "note",
	event.BudgetRaised{}.EventName():     "why",
	event.Discarded{}.EventName():        "why",
	event.Annotated{}.EventName():        "note",
	event.GapReported{}.EventName():      "missing detail",
	event.Shared{}.EventName():           "detail",
	event.HandoffRequested{}.EventName(): "detail decision.detail",
	event.Approved{}.EventName():         "detail",
	event.Denied{}.EventName():           "detail",
	event.Confirmed{}.EventName():        "detail",
	event.RejectedOffer{}.EventName():    "missing detail",
	event.Returned{}.EventName():         "why",
	event.OfferShed{}.EventName():        "why",
	event.TakeoverAsked{}.EventName():    "detail",
	event.TakeoverRefused{}.EventName():  "detail",
	event.AdviceTaken{}.EventName():      "prompt answer why decision.detail",
	event.Kept{}.EventName():             "decision.detail",
	event.Spawned{}.EventName():          "detail decision.detail children.intent " + expected,
	event.ChildEnded{}.EventName():       result + "why",
	event.Joined{}.EventName():           result,
	event.TicketOpened{}.EventName():     "question options",
	event.TicketReleased{}.EventName():   "detail",
	event.TicketEscalated{}.EventName():  "why",
	event.TicketClosed{}.EventName():     "answer detail",

	memory.ItemStored{}.EventName():  "tags version.title version.text version.salt",
	memory.ItemRevised{}.EventName(): "version.title version.text version.salt",
	memory.ItemTagged{}.EventName():  "tags",

	conversation.TurnAppended{}.EventName(): "turn.text",
})

func compile(of map[string]string) map[string]ledger.Paths {
	all := map[string]ledger.Paths{}
	for name, paths := range of {
		root := ledger.Paths{}
		for path := range strings.FieldsSeq(paths) {
			names := strings.Split(path, ".")
			at := root
			for _, n := range names[:len(names)-1] {
				if at[n] == nil {
					at[n] = ledger.Paths{}
				}
				at = at[n]
			}
			at[names[len(names)-1]] = nil
		}
		all[name] = root
	}
	return all
}
