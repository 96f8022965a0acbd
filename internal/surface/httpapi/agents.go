package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
)

// AgentList is a list of agents.
type AgentList struct {
	Agents   []roster.Agent `json:"agents"`
	Position uint64         `json:"position"`
}

// At implements [door.Placed].
func (l AgentList) At() uint64 { return l.Position }

// TokenList is a list of tokens.
type TokenList struct {
	Tokens   []roster.Token `json:"tokens"`
	Position uint64         `json:"position"`
}

// At implements [door.Placed].
func (l TokenList) At() uint64 { return l.Position }

// ReadinessInput says whether an agent takes new work.
type ReadinessInput struct {
	Readiness registry.Readiness `json:"readiness"`
}

// Me is whom a token speaks for.
type Me struct {
	Workspace string          `json:"workspace"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	Token     string          `json:"token" doc:"The token's id."`
	Agent     string          `json:"agent,omitempty" doc:"The agent's name, if it is one."`
	Person    string          `json:"person,omitempty" doc:"Who sits at the agent's client, as its token says."`
	Scopes    identity.Scopes `json:"scopes,omitempty" doc:"Of an outside issuer's token: what it may be used for. Absent: all that the role may do."`
	Server    string          `json:"server" doc:"The server's version."`
}

func (s *service) agents() {
	door.Read(s.door, door.Route{Path: "/v1/agents", ID: "list-agents", Summary: "List the agents", Tag: door.TagAgents},
		func(ctx context.Context, c app.Caller, _ *door.Reading) (AgentList, error) {
			out := AgentList{Position: uint64(s.app.Views().Position())}
			list, err := s.app.Agents(ctx, c)
			out.Agents = door.NotNil(list)
			return out, err
		})
	one := func(method, under, id, summary string) door.Route {
		return door.Route{Method: method, Path: "/v1/agents/{id}" + under, ID: id, Summary: summary, Tag: door.TagAgents}
	}
	door.Read(s.door, one(http.MethodGet, "", "show-agent", "Show an agent"), func(ctx context.Context, c app.Caller, in *door.ReadingID) (roster.Agent, error) {
		return s.app.Agent(ctx, c, in.ID)
	})
	door.Change(s.door, one(http.MethodPut, "", "register-agent", "Add an agent, or replace what is known about it"),
		func(ctx context.Context, c app.Caller, name string, in roster.AgentSpec) (roster.Agent, error) {
			return s.app.Register(ctx, c, roster.RegisterInput{Name: name, Spec: in})
		})
	readiness := one(http.MethodPut, "/readiness", "set-readiness", "Say whether an agent takes new work")
	readiness.About = "Whom an operator has made anything else than ready, only an operator makes ready again."
	door.Change(s.door, readiness,
		func(ctx context.Context, c app.Caller, name string, in ReadinessInput) (roster.Agent, error) {
			return s.app.SetReadiness(ctx, c, roster.ReadinessInput{Name: name, Readiness: in.Readiness})
		})
	door.Act(s.door, one(http.MethodDelete, "", "remove-agent", "Take an agent out of the registry"), s.app.RemoveAgent)
	door.Act(s.door, one(http.MethodPost, "/circuit/reset", "reset-circuit", "Close an agent's circuit"), s.app.ResetCircuit)
	stuck := one(http.MethodPost, "/stuck", "stuck-agent", "Say that an agent gets nowhere: others are asked to take over what it holds")
	stuck.About = "Of what the caller may say so about: tasks that it requested, or that work for one it owns; operators, of all. At most 100 in one call, each with its own outcome. " +
		"Who may say so of none of them is refused."
	door.Change(s.door, stuck, func(ctx context.Context, c app.Caller, name string, in app.StuckAgentInput) (docket.Relief, error) {
		in.Agent = name
		return s.app.StuckAgent(ctx, c, in)
	})
	shed := one(http.MethodPost, "/shed", "shed", "Move offers that wait for an agent to others that have room")
	shed.About = "As the agent itself or an operator. Offers of the lowest priority go first, the oldest of them first; at most 100 in one call."
	door.Change(s.door, shed, func(ctx context.Context, c app.Caller, name string, in app.ShedInput) (docket.Relief, error) {
		in.Agent = name
		return s.app.ShedOffers(ctx, c, in)
	})
	door.Tell(s.door, door.Route{
		Method: http.MethodPost, Path: "/v1/presence", ID: "beat", Summary: "Show that the calling agent lives",
		About: "Waiting for the inbox does so too.", Tag: door.TagAgents,
	}, s.app.Beat)
	door.Read(s.door, door.Route{Path: "/v1/me", ID: "me", Summary: "Whom the token speaks for", Tag: door.TagTokens},
		func(_ context.Context, c app.Caller, _ *door.Reading) (Me, error) {
			me := Me{Workspace: c.Workspace, Role: string(c.Role), Name: c.Name, Token: c.Token, Agent: c.Agent(), Person: c.Person, Server: s.opts.Version}
			if c.Scopes != nil {
				me.Scopes = *c.Scopes
			}
			return me, nil
		})
}

func (s *service) tokens() {
	door.Create(s.door, door.Route{
		Method: http.MethodPost, Path: "/v1/tokens", ID: "create-token", Summary: "Make a token",
		About: "Its text is in this answer and never again.", Tag: door.TagTokens, Status: http.StatusCreated,
	}, s.app.CreateToken)
	door.Read(s.door, door.Route{Path: "/v1/tokens", ID: "list-tokens", Summary: "List the tokens, revoked ones too", Tag: door.TagTokens},
		func(ctx context.Context, c app.Caller, _ *door.Reading) (TokenList, error) {
			out := TokenList{Position: uint64(s.app.Views().Position())}
			list, err := s.app.Tokens(ctx, c)
			out.Tokens = door.NotNil(list)
			return out, err
		})
	revoke := door.Route{Method: http.MethodDelete, Path: "/v1/tokens/{id}", ID: "revoke-token", Summary: "End a token for good", Tag: door.TagTokens}
	door.Act(s.door, revoke, s.app.RevokeToken)
}
