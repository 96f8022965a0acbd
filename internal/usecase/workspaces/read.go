package workspaces

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// WorkspacesInput says which page of the workspaces is wanted.
type WorkspacesInput struct {
	After string // name of the last workspace of the page before
	Limit int    // 0: 50
	Used  bool   // with what each uses
}

// List lists the workspaces by name, archived ones included: all for admins of the workspace default, their own for others.
func (ws *Workspaces) List(ctx context.Context, c caller.Caller, in WorkspacesInput) ([]Workspace, error) {
	if err := c.May(identity.ReadAny, "list workspaces"); err != nil {
		return nil, ws.access.Refused(ctx, c.Workspace, c.Actor(), "list-workspaces", "", err)
	}
	if err := view.CheckLimit(in.Limit); err != nil {
		return nil, err
	}
	all, err := ws.all(ctx, c)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(w Workspace) bool { return w.Name <= in.After })
	all = all[:min(len(all), view.PageSize(in.Limit))]
	if in.Used {
		for i := range all {
			if all[i].Used, err = ws.used(ctx, all[i].Name); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// all returns the workspaces that a caller sees, by name.
func (ws *Workspaces) all(ctx context.Context, c caller.Caller) ([]Workspace, error) {
	if workspace.May(c.Principal, "") != nil {
		f, err := ws.store.Find(ctx, c.Workspace)
		return []Workspace{of(c.Workspace, f.State, 0)}, err
	}
	made, err := ws.views.MadeWorkspaces(ctx)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	names, err := ws.views.Workspaces(ctx) // also those that only tokens made
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	var list []Workspace
	seen := map[string]bool{}
	for _, s := range made {
		list, seen[s.Name] = append(list, of(s.Name, s, 0)), true
	}
	for _, name := range append(names, identity.DefaultWorkspace) {
		if !seen[name] {
			list, seen[name] = append(list, of(name, workspace.State{}, 0)), true
		}
	}
	slices.SortFunc(list, func(a, b Workspace) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Show shows a workspace, and what it uses. It is a fresh read.
func (ws *Workspaces) Show(ctx context.Context, c caller.Caller, name string) (Workspace, error) {
	w, err := ws.show(ctx, c, name)
	if err != nil {
		return Workspace{}, ws.access.Refused(ctx, c.Workspace, c.Actor(), "show-workspace", name, err)
	}
	return w, nil
}

func (ws *Workspaces) show(ctx context.Context, c caller.Caller, name string) (Workspace, error) {
	if err := c.May(identity.ReadAny, "show a workspace"); err != nil {
		return Workspace{}, err
	}
	if err := workspace.CheckName(name); err != nil {
		return Workspace{}, err
	}
	own := name == c.Workspace
	if !own && workspace.May(c.Principal, "") != nil { // whether it is there is not told
		return Workspace{}, workspace.NotFound(name)
	}
	f, err := ws.store.Find(ctx, name)
	if err != nil {
		return Workspace{}, err
	}
	if !own && !f.State.Exists(name) {
		names, err := ws.views.Workspaces(ctx)
		if err != nil {
			return Workspace{}, stream.Unavailable(err)
		}
		if !slices.Contains(names, name) {
			return Workspace{}, workspace.NotFound(name)
		}
	}
	w := of(name, f.State, f.Head)
	w.Used, err = ws.used(ctx, name)
	return w, err
}

func (ws *Workspaces) used(ctx context.Context, name string) (*Usage, error) {
	var u Usage
	for limit, n := range map[workspace.Limit]*int64{workspace.OpenTasks: &u.OpenTasks, workspace.EntriesPerDay: &u.EntriesToday, workspace.Agents: &u.Agents} {
		var err error
		if *n, err = ws.store.Used(ctx, name, limit); err != nil {
			return nil, stream.Unavailable(err)
		}
	}
	if ws.files != nil {
		u.ArtifactBytes = ws.files.Used(name).Bytes
	}
	return &u, nil
}
