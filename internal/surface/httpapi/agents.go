package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
)

const (
	tagAgents = "Agents"
	tagTokens = "Tokens"
)

// AgentList is a list of agents.
type AgentList struct {
	Agents   []roster.Agent `json:"agents"`
	Position uint64         `json:"position"`
}

func (l AgentList) position() uint64 { return l.Position }

// TokenList is a list of tokens.
type TokenList struct {
	Tokens   []roster.Token `json:"tokens"`
	Position uint64         `json:"position"`
}

func (l TokenList) position() uint64 { return l.Position }

// ReadinessInput says whether an agent takes new work.
type ReadinessInput struct {
	Readiness registry.Readiness `json:"readiness"`
}

// Me is whom a token speaks for.
type Me struct {
	Workspace string `json:"workspace"`
	Role      string `json:"role"`
	Name      string `json:"name"`
	Token     string `json:"token" doc:"The token's id."`
	Agent     string `json:"agent,omitempty" doc:"The agent's name, if it is one."`
	Server    string `json:"server" doc:"The server's version."`
}

func (s *service) agents() {
	read(s, route{path: "/v1/agents", id: "list-agents", summary: "List the agents", tag: tagAgents},
		func(ctx context.Context, c app.Caller, _ *Reading) (AgentList, error) {
			out := AgentList{Position: uint64(s.app.Views().Position())}
			list, err := s.app.Agents(ctx, c)
			out.Agents = notNil(list)
			return out, err
		})
	one := func(method, under, id, summary string) route {
		return route{method: method, path: "/v1/agents/{id}" + under, id: id, summary: summary, tag: tagAgents}
	}
	read(s, one(http.MethodGet, "", "show-agent", "Show an agent"), func(ctx context.Context, c app.Caller, in *readingID) (roster.Agent, error) {
		return s.app.Agent(ctx, c, in.ID)
	})
	change(s, one(http.MethodPut, "", "register-agent", "Add an agent, or replace what is known about it"),
		func(ctx context.Context, c app.Caller, name string, in roster.AgentSpec) (roster.Agent, error) {
			return s.app.Register(ctx, c, roster.RegisterInput{Name: name, Spec: in})
		})
	readiness := one(http.MethodPut, "/readiness", "set-readiness", "Say whether an agent takes new work")
	readiness.about = "Whom an operator has made anything else than ready, only an operator makes ready again."
	change(s, readiness,
		func(ctx context.Context, c app.Caller, name string, in ReadinessInput) (roster.Agent, error) {
			return s.app.SetReadiness(ctx, c, roster.ReadinessInput{Name: name, Readiness: in.Readiness})
		})
	act(s, one(http.MethodDelete, "", "remove-agent", "Take an agent out of the registry"), s.app.RemoveAgent)
	act(s, one(http.MethodPost, "/circuit/reset", "reset-circuit", "Close an agent's circuit"), s.app.ResetCircuit)
	beat := s.operation(route{
		method: http.MethodPost, path: "/v1/presence", id: "beat", summary: "Show that the calling agent lives",
		about: "Waiting for the inbox does so too.", tag: tagAgents, status: http.StatusNoContent,
	})
	huma.Register(s.api, beat, func(ctx context.Context, _ *struct{}) (*struct{}, error) {
		if err := s.app.Beat(ctx, caller(ctx)); err != nil {
			return nil, s.problem(ctx, err)
		}
		return nil, nil //nolint:nilnil // there is nothing to say
	})
	read(s, route{path: "/v1/me", id: "me", summary: "Whom the token speaks for", tag: tagTokens},
		func(_ context.Context, c app.Caller, _ *Reading) (Me, error) {
			return Me{Workspace: c.Workspace, Role: string(c.Role), Name: c.Name, Token: c.Token, Agent: c.Agent(), Server: s.opts.Version}, nil
		})
}

type tokenBody struct {
	Keyed
	Body roster.TokenInput
}

func (s *service) tokens() {
	create := s.operation(route{
		method: http.MethodPost, path: "/v1/tokens", id: "create-token", summary: "Make a token",
		about: "Its text is in this answer and never again.", tag: tagTokens, status: http.StatusCreated,
	})
	huma.Register(s.api, create, func(ctx context.Context, in *tokenBody) (*answer[roster.Token], error) {
		t, err := s.app.CreateToken(ctx, caller(ctx).WithKey(in.Key), in.Body)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(t), nil
	})
	read(s, route{path: "/v1/tokens", id: "list-tokens", summary: "List the tokens, revoked ones too", tag: tagTokens},
		func(ctx context.Context, c app.Caller, _ *Reading) (TokenList, error) {
			out := TokenList{Position: uint64(s.app.Views().Position())}
			list, err := s.app.Tokens(ctx, c)
			out.Tokens = notNil(list)
			return out, err
		})
	revoke := route{method: http.MethodDelete, path: "/v1/tokens/{id}", id: "revoke-token", summary: "End a token for good", tag: tagTokens}
	act(s, revoke, s.app.RevokeToken)
}
