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

// Roles lists every role that a token can have.
var Roles = event.NewSet("a role", Admin, Operator, Auditor, Agent)

// Permission is a class of things to do. What a verb's "own" is, the use case knows: an agent's own are the tasks it
// requested or owns, the offers and shares made to it, the approvals it was named for, and its own registration.
type Permission string

// The permissions.
const (
	ReadOwn           Permission = "read_own"     // own tasks, offers, inbox, trail; the list of agents
	ReadAny           Permission = "read_any"     // everybody's
	ReadAudit         Permission = "read_audit"   // the whole record and its exports
	ActOwn            Permission = "act_own"      // create tasks and act on one's own: hand off, accept, finish, share, approve
	ActAny            Permission = "act_any"      // act on any task: cancel, move, approve, lift a constraint
	ManageDeadLetters Permission = "dead_letters" // replay or discard
	ManageAgents      Permission = "agents"       // register, drain or remove any agent, reset its circuit
	ManageTokens      Permission = "tokens"       // create, list or revoke tokens
	ManageWorkspaces  Permission = "workspaces"   // make, list, limit, archive or restore workspaces
)

// Permissions lists every permission.
func Permissions() []Permission {
	return []Permission{ReadOwn, ReadAny, ReadAudit, ActOwn, ActAny, ManageDeadLetters, ManageAgents, ManageTokens, ManageWorkspaces}
}

var rolePermissions = map[Role][]Permission{
	Admin:    Permissions(),
	Operator: {ReadOwn, ReadAny, ReadAudit, ActOwn, ActAny, ManageDeadLetters, ManageAgents},
	Auditor:  {ReadOwn, ReadAny, ReadAudit},
	Agent:    {ReadOwn, ActOwn},
}

// May reports whether a role may do a class of things.
func May(r Role, v Permission) bool { return slices.Contains(rolePermissions[r], v) }

// Require refuses (not_permitted) a principal whose role may not do v. What says in the message what was tried, for
// example "revoke a token".
func Require(p Principal, v Permission, what string) error {
	if May(p.Role, v) {
		return nil
	}
	var who []string
	for _, r := range Roles.Values() {
		if May(r, v) {
			who = append(who, string(r))
		}
	}
	roles := strings.Join(who, ", ")
	if last := len(who) - 1; last > 0 {
		roles = strings.Join(who[:last], ", ") + " or " + who[last]
	}
	return refusal.New(refusal.NotPermitted, "this needs the role "+roles,
		"%s may not %s", p.Short(), what)
}
