package identity

import (
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Role is what a principal is to the server.
type Role string

// The roles.
const (
	Admin    Role = "admin"    // everything, tokens included
	Operator Role = "operator" // runs the work: any task, approvals, dead letters, agents
	Auditor  Role = "auditor"  // reads everything, changes nothing
	Agent    Role = "agent"    // acts for itself
)

// System is the role of the server itself. No token has it, so it is none of [Roles] and may nothing by [May].
const System = Role("system")

var roles = event.NewSet("role", Admin, Operator, Auditor, Agent)

// Roles lists every role that a token can have.
func Roles() []Role { return roles.Values() }

// Valid reports whether a token can have the role.
func (r Role) Valid() bool { return roles.Has(r) }

// Verb is a class of things to do. What a verb's "own" is, the use case knows: an agent's own are the tasks it
// requested or owns, the offers and shares made to it, the approvals it was named for, and its own registration.
type Verb string

// The verbs.
const (
	ReadOwn     Verb = "read_own"     // own tasks, offers, inbox, trail; the list of agents
	ReadAny     Verb = "read_any"     // everybody's
	ReadAudit   Verb = "read_audit"   // the whole record and its exports
	ActOwn      Verb = "act_own"      // create tasks and act on one's own: hand off, accept, finish, share, approve
	ActAny      Verb = "act_any"      // act on any task: cancel, move, approve, lift a constraint
	DeadLetters Verb = "dead_letters" // replay or discard
	Agents      Verb = "agents"       // register, drain or remove any agent, reset its circuit
	Tokens      Verb = "tokens"       // create, list or revoke tokens
)

// Verbs lists every verb.
func Verbs() []Verb {
	return []Verb{ReadOwn, ReadAny, ReadAudit, ActOwn, ActAny, DeadLetters, Agents, Tokens}
}

var permissions = map[Role][]Verb{
	Admin:    Verbs(),
	Operator: {ReadOwn, ReadAny, ReadAudit, ActOwn, ActAny, DeadLetters, Agents},
	Auditor:  {ReadOwn, ReadAny, ReadAudit},
	Agent:    {ReadOwn, ActOwn},
}

// May reports whether a role may do a class of things.
func May(r Role, v Verb) bool { return slices.Contains(permissions[r], v) }

// Require refuses (not_permitted) a principal whose role may not do v. What says in the message what was tried, for
// example "revoke a token".
func Require(p Principal, v Verb, what string) error {
	if May(p.Role, v) {
		return nil
	}
	var who []string
	for _, r := range Roles() {
		if May(r, v) {
			who = append(who, string(r))
		}
	}
	return refusal.New(refusal.NotPermitted, "this needs the role "+strings.Join(who, " or "),
		"%s may not %s", p, what)
}
