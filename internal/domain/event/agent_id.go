package event

import (
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// An agent is identified by its name, and from the second registration of the name on by "name~2", "name~3": an agent that is registered
// under the name of one that was removed is another agent. The record, the views and every answer have the identity. Where people and
// programs name an agent, the name alone is the agent that has it now, and "name~1" is the first.
const registrationMark = "~"

// AgentID is the identity of an agent by its name and the number of the registration, from 1 on.
func AgentID(name string, registration int) string {
	if registration <= 1 {
		return name
	}
	return name + registrationMark + strconv.Itoa(registration)
}

// AgentName is the name of an agent without the number of its registration.
func AgentName(id string) string {
	name, _, _ := strings.Cut(id, registrationMark)
	return name
}

// ParseAgent splits how somebody names an agent; the registration is 0 if the text is the name alone.
func ParseAgent(text string) (name string, registration int) {
	name, number, marked := strings.Cut(text, registrationMark)
	if !marked {
		return name, 0
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || n == 0 || number[0] == '0' || number[0] == '+' {
		return text, 0 // which [CheckAgent] refuses
	}
	return name, int(n)
}

// CheckAgent refuses (invalid) a text that names no agent: neither a name, as [CheckName] has it, nor a name with the number of a registration.
func CheckAgent(what, text string) error {
	name, registration := ParseAgent(text)
	if registration > 0 && CheckName(what, name) != nil {
		return refusal.New(refusal.Invalid, nameHint+"; NAME~2 is the agent of the second registration of a name", "%s %s is not the name of an agent", what, strconv.QuoteToASCII(text))
	}
	return CheckName(what, name)
}

// CheckOptionalAgent is [CheckAgent] for one that may be left out.
func CheckOptionalAgent(what, text string) error {
	if text == "" {
		return nil
	}
	return CheckAgent(what, text)
}
