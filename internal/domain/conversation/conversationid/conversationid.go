package conversationid

import (
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const ownerMark = "~"

// Operators is the owner of the conversations of all callers that are no agents. No agent can have the name.
const Operators = "operator"

// Of is the identity of the conversation that an agent, or [Operators], calls by a name.
func Of(name, owner string) string { return name + ownerMark + owner }

// Parse splits what somebody calls a conversation. The owner is empty if it is the name alone, which is also the id of a conversation of an older record.
func Parse(text string) (name, owner string) {
	name, owner, _ = strings.Cut(text, ownerMark)
	return name, owner
}

// Name is the name of a conversation without its owner.
func Name(id string) string {
	name, _ := Parse(id)
	return name
}

// Check refuses (invalid) a text that names no conversation: neither a name, as [event.CheckName] has it, nor an id.
func Check(text string) error {
	name, owner, marked := strings.Cut(text, ownerMark)
	if err := event.CheckName("conversation", name); err != nil || !marked {
		return err
	}
	if event.CheckAgent("owner", owner) != nil {
		return refusal.New(refusal.Invalid, "use NAME, or NAME~AGENT for the conversation that another agent calls NAME",
			"%s is not the id of a conversation", strconv.QuoteToASCII(refusal.Clip(text, 3*event.MaxName)))
	}
	return nil
}

// CheckOptional is [Check] for one that may be left out.
func CheckOptional(text string) error {
	if text == "" {
		return nil
	}
	return Check(text)
}
