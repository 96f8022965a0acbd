package client

import (
	"context"
	"net/http"
	"strings"
	"time"
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
	Workspace string    `json:"workspace"`
	Role      Role      `json:"role"`
	Name      string    `json:"name"`
	Token     string    `json:"token"`            // the token's id
	Agent     string    `json:"agent,omitempty"`  // the agent's name, if it is one
	Person    string    `json:"person,omitempty"` // at its client, as the token says
	Scopes    []string  `json:"scopes,omitempty"` // what an outside issuer's token may be used for; nil: all that the role may do
	Server    string    `json:"server"`           // the server's version
	Expires   time.Time `json:"expires,omitzero"` // when the token does; zero: never
	Now       time.Time `json:"now"`              // by the server's clock, which judges deadlines and timeouts
	Position  uint64    `json:"position"`         // up to which lists have everything now
}

// Is reports whether the token is that of the agent that has a name now, or has that identity (NAME~2).
func (m Me) Is(agent string) bool {
	name, _, _ := strings.Cut(m.Agent, "~")
	return m.Agent != "" && (agent == m.Agent || agent == name)
}

// Me tells the principal of the token.
func (c *Client) Me(ctx context.Context) (Me, error) {
	return ask[Me](ctx, c, http.MethodGet, path("me"), nil, nil)
}

// Token describes a token.
type Token struct {
	ID        string    `json:"id"`
	Role      Role      `json:"role"`
	Name      string    `json:"name"`
	Workspace string    `json:"workspace"` // where it counts
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"` // at the agent's client
	By        string    `json:"created_by"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"`
	Revoked   time.Time `json:"revoked,omitzero"`
	Text      string    `json:"token,omitempty"` // the token itself: in the answer that made it, and never again
}

// TokenInput makes a token.
type TokenInput struct {
	Role      Role      `json:"role"`
	Name      string    `json:"name"` // of the agent or person that it speaks for
	Label     string    `json:"label,omitempty"`
	Person    string    `json:"person,omitempty"`    // of an agent's token: the person at its client; see [WithPerson]
	Workspace string    `json:"workspace,omitempty"` // where it counts; left out: the caller's
	Expires   time.Time `json:"expires,omitzero"`    // left out: never
}

// TokenList is a list of tokens.
type TokenList struct {
	Tokens   []Token `json:"tokens"`
	Position uint64  `json:"position"`
}

// CreateToken makes a token. Its text is in this answer and never again.
func (c *Client) CreateToken(ctx context.Context, in TokenInput) (Token, error) {
	return ask[Token](ctx, c, http.MethodPost, path("tokens"), nil, in)
}

// Tokens lists the tokens, revoked ones too.
func (c *Client) Tokens(ctx context.Context) (TokenList, error) {
	return ask[TokenList](ctx, c, http.MethodGet, path("tokens"), nil, nil)
}

// RevokeToken ends a token for good.
func (c *Client) RevokeToken(ctx context.Context, id string) (Token, error) {
	return ask[Token](ctx, c, http.MethodDelete, path("tokens", id), nil, nil)
}
