package identity

import (
	"strconv"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// DefaultWorkspace is where everybody belongs unless told otherwise.
const DefaultWorkspace = "default"

// Principal is who asks, always taken from the credential.
type Principal struct {
	Workspace string `json:"workspace"`
	Role      Role   `json:"role"`
	Name      string `json:"name"` // an agent's registered name, or a name for the person or program behind the token
}

// String is "role/name", for example "agent/writer". It leaves the workspace out.
func (p Principal) String() string { return string(p.Role) + "/" + p.Name }

// Agent is the name of the agent that asks, or "" when it is not an agent.
func (p Principal) Agent() string {
	if p.Role != Agent {
		return ""
	}
	return p.Name
}

// check refuses (invalid) a principal that cannot exist.
func (p Principal) check() error {
	if !p.Role.Valid() {
		return refusal.New(refusal.Invalid, `use "admin", "operator", "auditor" or "agent"`,
			"unknown role %s", strconv.QuoteToASCII(string(p.Role)))
	}
	if err := event.CheckName("workspace", p.Workspace); err != nil {
		return err
	}
	return event.CheckName("name of the "+string(p.Role), p.Name)
}
