package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// AgentList is a list of agents.
type AgentList struct {
	Agents   []agents.Agent `json:"agents"`
	Position uint64         `json:"position"`
}

// At implements [door.Placed].
func (l AgentList) At() uint64 { return l.Position }

// TokenList is a list of tokens.
type TokenList struct {
	Tokens   []tokens.Token `json:"tokens"`
	Position uint64         `json:"position"`
}

// At implements [door.Placed].
func (l TokenList) At() uint64 { return l.Position }

// ReadinessInput sets whether an agent takes new work.
type ReadinessInput struct {
	Readiness agent.Readiness `json:"readiness"`
}

// Me is the principal of a token.
type Me struct {
	Workspace string          `json:"workspace"`
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	Token     string          `json:"token" doc:"Id of the token."`
	Agent     string          `json:"agent,omitempty" doc:"Name of the agent, if the principal is one."`
	Person    string          `json:"person,omitempty" doc:"The person at the client of the agent, from the token."`
	Scopes    identity.Scopes `json:"scopes,omitempty" doc:"Scopes of a token of an OAuth issuer. Absent: everything that the role may do."`
	Server    string          `json:"server" doc:"Version of the server."`
}

func (s *service) agents() {
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/agents", ID: "list-agents", Summary: "List the agents", Tag: endpoint.TagAgents},
		func(ctx context.Context, c caller.Caller, _ *endpoint.Reading) (AgentList, error) {
			out := AgentList{Position: uint64(s.app.Positions.Viewed())}
			list, err := s.app.Agents.List(ctx, c)
			out.Agents = endpoint.NotNil(list)
			return out, err
		})
	one := func(method, under, id, summary string) endpoint.Route {
		return endpoint.Route{Method: method, Path: "/v1/agents/{id}" + under, ID: id, Summary: summary, Tag: endpoint.TagAgents}
	}
	endpoint.Read(s.door, one(http.MethodGet, "", "show-agent", "Show an agent"), func(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (agents.Agent, error) {
		return s.app.Agents.Show(ctx, c, in.ID)
	})
	endpoint.Change(s.door, one(http.MethodPut, "", "register-agent", "Register an agent, or replace its description"),
		func(ctx context.Context, c caller.Caller, name string, in agents.AgentSpec) (agents.Agent, error) {
			return s.app.Agents.Register(ctx, c, agents.RegisterInput{Name: name, Spec: in})
		})
	readiness := one(http.MethodPut, "/readiness", "set-readiness", "Set whether an agent takes new work")
	readiness.About = "If an operator has set a readiness other than ready, only an operator can set ready again."
	endpoint.Change(s.door, readiness,
		func(ctx context.Context, c caller.Caller, name string, in ReadinessInput) (agents.Agent, error) {
			return s.app.Agents.SetReadiness(ctx, c, agents.ReadinessInput{Name: name, Readiness: in.Readiness})
		})
	endpoint.Act(s.door, one(http.MethodDelete, "", "remove-agent", "Remove an agent"), s.app.Agents.Remove)
	endpoint.Act(s.door, one(http.MethodPost, "/circuit/reset", "reset-circuit", "Close the circuit breaker of an agent"), s.app.Agents.ResetCircuit)
	stuck := one(http.MethodPost, "/stuck", "stuck-agent", "Report that an agent makes no progress: others are asked to take over its tasks")
	stuck.About = "Applies to the tasks that the caller requested and to children of tasks it owns; for operators, to all. At most 100 tasks in one call, each with its own " +
		"outcome. A caller that may report none of them is refused."
	endpoint.Change(s.door, stuck, func(ctx context.Context, c caller.Caller, name string, in tasks.StuckAgentInput) (taskstore.Relief, error) {
		in.Agent = name
		return s.app.Tasks.StuckAgent(ctx, c, in)
	})
	shed := one(http.MethodPost, "/shed", "shed", "Move waiting offers of an agent to agents with capacity")
	shed.About = "For the agent itself and operators. Offers with the lowest priority are moved first, oldest first; at most 100 in one call."
	endpoint.Change(s.door, shed, func(ctx context.Context, c caller.Caller, name string, in tasks.ShedInput) (taskstore.Relief, error) {
		in.Agent = name
		return s.app.Tasks.ShedOffers(ctx, c, in)
	})
	endpoint.Tell(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/presence", ID: "beat", Summary: "Send a heartbeat of the calling agent",
		About: "Waiting for the inbox counts as a heartbeat too.", Tag: endpoint.TagAgents,
	}, s.app.Agents.Beat)
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/me", ID: "me", Summary: "Show the principal of the token", Tag: endpoint.TagTokens},
		func(_ context.Context, c caller.Caller, _ *endpoint.Reading) (Me, error) {
			me := Me{Workspace: c.Workspace, Role: string(c.Role), Name: c.Name, Token: c.Token, Agent: c.Agent(), Person: c.Person, Server: s.opts.Version}
			if c.Scopes != nil {
				me.Scopes = *c.Scopes
			}
			return me, nil
		})
}

func (s *service) tokens() {
	endpoint.Create(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tokens", ID: "create-token", Summary: "Create a token",
		About: "The text of the token is only in this answer.", Tag: endpoint.TagTokens, Status: http.StatusCreated,
	}, s.app.Tokens.Create)
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/tokens", ID: "list-tokens", Summary: "List the tokens, including revoked ones", Tag: endpoint.TagTokens},
		func(ctx context.Context, c caller.Caller, _ *endpoint.Reading) (TokenList, error) {
			out := TokenList{Position: uint64(s.app.Positions.Viewed())}
			list, err := s.app.Tokens.List(ctx, c)
			out.Tokens = endpoint.NotNil(list)
			return out, err
		})
	revoke := endpoint.Route{Method: http.MethodDelete, Path: "/v1/tokens/{id}", ID: "revoke-token", Summary: "Revoke a token for good", Tag: endpoint.TagTokens}
	endpoint.Act(s.door, revoke, s.app.Tokens.Revoke)
}
