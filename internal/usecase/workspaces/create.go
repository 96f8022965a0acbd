package workspaces

import (
	"cmp"
	"context"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
)

// MaxWorkspaces is the most workspaces that are made. It is counted in the views, so several that are made at once may exceed it by a few.
const MaxWorkspaces = 10_000

// WorkspaceInput makes a workspace.
type WorkspaceInput struct {
	Name        string           `json:"name" doc:"As agents are named: a-z, 0-9, '-', '_' and '.'." minLength:"1"`
	Description string           `json:"description,omitempty" doc:"What it is for."`
	Limits      workspace.Limits `json:"limits,omitzero"`
	Role        identity.Role    `json:"role,omitempty" doc:"Of the bearer of the first token: admin, or operator. An admin if left out."`
	Bearer      string           `json:"bearer,omitempty" doc:"Name of the person whom the first token is for; your own if left out."`
}

// Create makes a workspace, and its first token. Repeating it under one key gives the id of the token, but not its text, which exists only in
// the first answer.
func (ws *Workspaces) Create(ctx context.Context, c caller.Caller, in WorkspaceInput) (Workspace, error) {
	if in.Role = cmp.Or(in.Role, identity.Admin); in.Role != identity.Admin && in.Role != identity.Operator {
		return Workspace{}, refusal.New(refusal.Invalid, "use admin or operator", "the first token of a workspace is not that of %.40q", in.Role)
	}
	in.Bearer = cmp.Or(in.Bearer, c.Name)
	if err := event.CheckName("the bearer's name", in.Bearer); err != nil {
		return Workspace{}, err
	}
	if err := ws.room(ctx, c); err != nil {
		return Workspace{}, ws.access.Refused(ctx, c.Workspace, c.Actor(), "create-workspace", in.Name, err)
	}
	made, err := ws.do(ctx, c, "create-workspace", in.Name, in, workspace.Create{By: c.Principal, Name: in.Name, Description: in.Description, Limits: in.Limits})
	if err != nil {
		return Workspace{}, err
	}
	t, err := ws.tokens.Create(ctx, c, tokens.TokenInput{Role: in.Role, Name: in.Bearer, Workspace: in.Name, Label: "made with the workspace"})
	made.Token = &t
	return made, err
}

// room refuses (limit) one workspace more than may be made.
func (ws *Workspaces) room(ctx context.Context, c caller.Caller) error {
	if err := workspace.May(c.Principal, "make workspaces"); err != nil {
		return err
	}
	list, err := ws.views.MadeWorkspaces(ctx)
	if err != nil {
		return stream.Unavailable(err)
	}
	if len(list) >= MaxWorkspaces {
		return refusal.New(refusal.Limit, "use one that there is, or run another server", "there are %d workspaces; at most %d are allowed", len(list), MaxWorkspaces)
	}
	return nil
}
