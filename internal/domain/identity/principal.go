package identity

import (
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// DefaultWorkspace is where everybody belongs unless told otherwise.
const DefaultWorkspace = "default"

// Principal is who acts: an agent, a person, a program, or the server itself. It always comes from a credential, never from
// a request's body. The zero Principal is nobody.
type Principal struct {
	Workspace string `json:"workspace"`
	Role      Role   `json:"role"`
	Name      string `json:"name"` // an agent's registered name, or a name for the person or program behind the token
}

// ParsePrincipal is the principal of a workspace that [Principal.String] wrote. It checks nothing: the text comes from the
// record.
func ParsePrincipal(workspace, text string) Principal {
	role, name, _ := strings.Cut(text, "/")
	return Principal{Workspace: workspace, Role: Role(role), Name: name}
}

// String is "role/name", for example "agent/writer". It leaves the workspace out.
func (p Principal) String() string { return string(p.Role) + "/" + p.Name }

// Short is an agent's bare name, and "role/name" for everybody else: how the record names the source of a handoff.
func (p Principal) Short() string {
	if p.Role == Agent {
		return p.Name
	}
	return p.String()
}

// IsZero reports whether this is nobody.
func (p Principal) IsZero() bool { return p == Principal{} }

// Agent is the name of the agent that acts, or "" when it is not an agent.
func (p Principal) Agent() string {
	if p.Role != Agent {
		return ""
	}
	return p.Name
}

// IsSystem reports whether the server itself acts: its clocks, and what crosses tasks.
func (p Principal) IsSystem() bool { return p.Role == System }

// IsOperator reports whether the principal may act on what is not its own, as operators and admins may.
func (p Principal) IsOperator() bool { return May(p.Role, ActAny) }

// check refuses (invalid) a principal that cannot exist.
func (p Principal) check() error {
	if !Roles.Has(p.Role) {
		return refusal.New(refusal.Invalid, "use "+event.OneOf(Roles.Values()),
			"unknown role %s", strconv.QuoteToASCII(string(p.Role)))
	}
	if err := event.CheckName("workspace", p.Workspace); err != nil {
		return err
	}
	if p.Role == Agent {
		return event.CheckAgent("name of the agent", p.Name)
	}
	return event.CheckName("name of the "+string(p.Role), p.Name)
}
