package client

import (
	"context"
	"net/http"
)

// Role is what the bearer of a token is to the server.
type Role string

// The roles.
const (
	RoleAdmin    Role = "admin"    // everything, tokens included
	RoleOperator Role = "operator" // runs the work: any task, approvals, dead letters, agents
	RoleAuditor  Role = "auditor"  // reads everything, changes nothing
	RoleAgent    Role = "agent"    // acts for itself
)

// Roles lists every role.
func Roles() []Role { return []Role{RoleAdmin, RoleOperator, RoleAuditor, RoleAgent} }

// Me is the principal of a token.
type Me struct {
	Workspace string   `json:"workspace"`
	Role      Role     `json:"role"`
	Name      string   `json:"name"`
	Token     string   `json:"token"`            // the token's id
	Agent     string   `json:"agent,omitempty"`  // the agent's name, if it is one
	Person    string   `json:"person,omitempty"` // at its client, as the token says
	Scopes    []string `json:"scopes,omitempty"` // what an outside issuer's token may be used for; nil: all that the role may do
	Server    string   `json:"server"`           // the server's version
}

// Me tells the principal of the token.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return ask[Me](ctx, c, http.MethodGet, path("me"), nil, nil)
}
