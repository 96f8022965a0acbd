package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/identity"
)

// TokenList is a list of tokens.
type TokenList struct {
	Tokens []tokens.Token `json:"tokens"`
	endpoint.Listed
}

// Me is the principal of a token.
type Me struct {
	Workspace string          `json:"workspace"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	Token     string          `json:"token" doc:"Id of the token."`
	Agent     string          `json:"agent,omitempty" doc:"Name of the agent, if the principal is one."`
	Person    string          `json:"person,omitempty" doc:"The person at the client of the agent, from the token."`
	Expires   time.Time       `json:"expires,omitzero" doc:"When the token expires. Absent: never."`
	Scopes    identity.Scopes `json:"scopes,omitempty" doc:"Scopes of a token of an OAuth issuer. Absent: everything that the role may do."`
	Server    string          `json:"server" doc:"Version of the server."`
	Now       time.Time       `json:"now" doc:"Time of the server's clock, by which it judges deadlines and timeouts."`
	endpoint.Listed
}

type meQuery struct {
	endpoint.Reading
	ForModel bool `query:"for_model" doc:"Whether a model is to use the token: one of an administrator is refused then."`
}

func (s *service) tokens() {
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/me", ID: "me", Summary: "Show the principal of the token", Tag: endpoint.TagTokens},
		func(ctx context.Context, c caller.Caller, in *meQuery) (Me, error) {
			if in.ForModel {
				if err := s.app.Tokens.ForModel(ctx, c); err != nil {
					return Me{}, err
				}
			}
			me := Me{Workspace: c.Workspace, Role: string(c.Role), Name: c.Name, Token: c.Token, Agent: c.Agent(), Person: c.Person, Expires: c.Expires, Server: s.opts.Version, Now: s.app.Now().UTC(), Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
			if c.Scopes != nil {
				me.Scopes = *c.Scopes
			}
			return me, nil
		})
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tokens", ID: "create-token", Summary: "Create a token",
		About: "The text of the token is only in this answer.", Tag: endpoint.TagTokens, Status: http.StatusCreated,
	}, s.app.Tokens.Create)
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/tokens", ID: "list-tokens", Summary: "List the tokens, including revoked ones", Tag: endpoint.TagTokens},
		func(ctx context.Context, c caller.Caller, _ *endpoint.Reading) (TokenList, error) {
			out := TokenList{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
			list, err := s.app.Tokens.List(ctx, c)
			out.Tokens = endpoint.NotNil(list)
			return out, err
		})
	revoke := endpoint.Route{Method: http.MethodDelete, Path: "/v1/tokens/{id}", ID: "revoke-token", Summary: "Revoke a token for good", Tag: endpoint.TagTokens}
	endpoint.Act(s.router, revoke, s.app.Tokens.Revoke)
}
