package view

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// AgentLoads is the agents of a workspace with the number of tasks that each holds. It is shared between goroutines: do not
// change it.
type AgentLoads struct {
	Agents []agent.State  // by name, without removed ones
	Held   map[string]int // the tasks that an agent owns and that have not ended or been parked, if there are any

	// AgentsAt and HeldAt identify the state of both: a later AgentLoads shares what has not changed.
	AgentsAt uint64
	HeldAt   ledger.Position
}

// Directory lists agents, tokens and channels.
type Directory interface {
	// Agents lists the agents of a workspace by name, without removed ones.
	Agents(ctx context.Context, workspace string) ([]agent.State, error)
	// Held counts the tasks that an agent owns and that have not ended or been parked.
	Held(ctx context.Context, workspace, agent string) (int, error)
	// AgentLoads returns the agents of a workspace and the numbers of tasks that they hold. before is the result of an earlier
	// call, or nil: parts that have not changed are not read again.
	AgentLoads(ctx context.Context, workspace string, before *AgentLoads) (*AgentLoads, error)
	// Workspaces lists the workspaces that have agents, removed ones included, by name.
	Workspaces(ctx context.Context) ([]string, error)
	// Tokens lists the tokens of a workspace, revoked ones included, oldest first.
	Tokens(ctx context.Context, workspace string) ([]identity.State, error)
	// Channels lists the channels of a workspace after a name, by name, without removed ones.
	Channels(ctx context.Context, workspace, after string, limit int) ([]channel.State, error)
	// ChannelCount counts the channels of a workspace, without removed ones.
	ChannelCount(ctx context.Context, workspace string) (int, error)
}
