package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// AgentList is a list of agents.
type AgentList struct {
	Agents []agents.Agent `json:"agents"`
	endpoint.Listed
}

// ReadinessInput sets whether an agent takes new work.
type ReadinessInput struct {
	Readiness agent.Readiness `json:"readiness"`
}

func (s *service) agents() {
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/agents", ID: "list-agents", Summary: "List the agents", Tag: endpoint.TagAgents},
		func(ctx context.Context, c caller.Caller, _ *endpoint.Reading) (AgentList, error) {
			out := AgentList{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
			list, err := s.app.Agents.List(ctx, c)
			out.Agents = endpoint.NotNil(list)
			return out, err
		})
	one := func(method, under, id, summary string) endpoint.Route {
		return endpoint.Route{Method: method, Path: "/v1/agents/{id}" + under, ID: id, Summary: summary, Tag: endpoint.TagAgents}
	}
	endpoint.Read(s.router, one(http.MethodGet, "", "show-agent", "Show an agent"), func(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (agents.Agent, error) {
		return s.app.Agents.Show(ctx, c, in.ID)
	})
	endpoint.Change(s.router, one(http.MethodPut, "", "register-agent", "Register an agent, or replace its description"),
		func(ctx context.Context, c caller.Caller, name string, in *agents.AgentSpec) (agents.Agent, error) {
			return s.app.Agents.Register(ctx, c, agents.RegisterInput{Name: name, Spec: *in})
		})
	readiness := one(http.MethodPut, "/readiness", "set-readiness", "Set whether an agent takes new work")
	readiness.About = "If an operator has set a readiness other than ready, only an operator can set ready again."
	endpoint.Change(s.router, readiness,
		func(ctx context.Context, c caller.Caller, name string, in *ReadinessInput) (agents.Agent, error) {
			return s.app.Agents.SetReadiness(ctx, c, agents.ReadinessInput{Name: name, Readiness: in.Readiness})
		})
	endpoint.Act(s.router, one(http.MethodDelete, "", "remove-agent", "Remove an agent"), s.app.Agents.Remove)
	endpoint.Act(s.router, one(http.MethodPost, "/circuit/reset", "reset-circuit", "Close the circuit breaker of an agent"), s.app.Agents.ResetCircuit)
	stuck := one(http.MethodPost, "/stuck", "stuck-agent", "Report that an agent makes no progress: others are asked to take over its tasks")
	stuck.About = "Applies to the tasks that the caller requested and to children of tasks it owns; for operators, to all. At most 100 tasks in one call, each with its own " +
		"outcome. A caller that may report none of them is refused."
	endpoint.Change(s.router, stuck, endpoint.Under(func(in *tasks.StuckAgentInput) *string { return &in.Agent }, s.app.Tasks.StuckAgent))
	shed := one(http.MethodPost, "/shed", "shed", "Move waiting offers of an agent to agents with capacity")
	shed.About = "For the agent itself and operators. Offers with the lowest priority are moved first, oldest first; at most 100 in one call."
	endpoint.Change(s.router, shed, endpoint.Under(func(in *tasks.ShedInput) *string { return &in.Agent }, s.app.Tasks.ShedOffers))
	endpoint.Tell(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/presence", ID: "beat", Summary: "Send a heartbeat of the calling agent",
		About: "Waiting for the inbox counts as a heartbeat too. An agent without a presence_ttl then has one of 5m: it is offline when it has not been heard of for so long.",
		Tag:   endpoint.TagAgents,
	}, func(ctx context.Context, c caller.Caller) error { return s.app.Agents.Beat(ctx, c, true) })
}
