package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

const (
	purpose  = "trapeze bench"  // what the workspaces of runs are described as
	stillFor = 10 * time.Second // a workspace in which nothing happens for so long is of a run that was killed, on another machine: each handoff makes entries
)

// Swept is what became of the workspaces of earlier runs.
type Swept struct {
	Cleaned []string `json:"cleaned"`
	Busy    []string `json:"busy"`   // of another run, whose process lives or may live
	Others  []string `json:"others"` // no run made them, whatever their names
}

// errOther is the error of clearing a workspace that no run made.
var errOther = errors.New("no run made it")

func (w Swept) print(p *shell.Page) {
	if len(w.Cleaned)+len(w.Busy)+len(w.Others) == 0 {
		p.Line("No earlier run left anything.")
	}
	for _, name := range w.Cleaned {
		p.Line("Cleaned up workspace %s, which a run that was killed left.", name)
	}
	for _, name := range w.Busy {
		p.Line("Workspace %s is in use, probably by another run: it stays as it is.", name)
	}
	for _, name := range w.Others {
		p.Line("Workspace %s was not made by a run, whatever its name: it stays as it is.", name)
	}
}

// still waits for [stillFor].
func still(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(stillFor):
		return nil
	}
}

// sweep cleans up what runs left that were killed: those of this machine whose process has ended; if the user asks for it, also those of other machines, in
// whose workspaces nothing happens during a wait: a process that stands still there cannot be told from one that was killed. It goes on after errors.
func sweep(ctx context.Context, owner *client.Client, o Options, wait func(context.Context) error) (Swept, error) {
	w := Swept{Cleaned: []string{}, Busy: []string{}, Others: []string{}}
	names, err := workspacesOfRuns(ctx, owner)
	if err != nil || len(names) == 0 {
		return w, err
	}
	var left, distant []string
	for _, name := range names {
		switch l := lifeOf(o.mark(name)); {
		case l == over:
			left = append(left, name)
		case l == elsewhere && o.Clean:
			distant = append(distant, name)
		default:
			w.Busy = append(w.Busy, name)
		}
	}
	if len(distant) > 0 {
		before, err := entriesOf(ctx, owner, distant)
		if err != nil {
			return w, err
		}
		if err := wait(ctx); err != nil {
			return w, err
		}
		after, err := entriesOf(ctx, owner, distant)
		if err != nil {
			return w, err
		}
		for _, name := range distant {
			if after[name] == before[name] {
				left = append(left, name)
			} else {
				w.Busy = append(w.Busy, name)
			}
		}
	}
	err = w.clear(ctx, owner, o, left)
	return w, err
}

// clear cleans up workspaces of runs that were killed.
func (w *Swept) clear(ctx context.Context, owner *client.Client, o Options, names []string) error {
	var errs []error
	for _, name := range names {
		if err := clearLeft(ctx, owner, o, name); errors.Is(err, errOther) {
			w.Others = append(w.Others, name)
		} else if err != nil {
			errs = append(errs, fmt.Errorf("workspace %s of an earlier run is not cleaned up: %w", name, err))
		} else {
			w.Cleaned = append(w.Cleaned, name)
		}
	}
	return errors.Join(errs...)
}

// workspacesOfRuns lists the workspaces that runs made and that are not archived.
func workspacesOfRuns(ctx context.Context, owner *client.Client) (names []string, err error) {
	err = inUse(ctx, owner, admin.WorkspaceOptions{After: workspace}, func(w *admin.Workspace) (more bool) { // they are listed by name
		if ofRuns(w) {
			names = append(names, w.Name)
		}
		return strings.HasPrefix(w.Name, workspace)
	})
	return names, err
}

// ofRuns reports whether a workspace is named and described as those that runs make.
func ofRuns(w *admin.Workspace) bool {
	return strings.HasPrefix(w.Name, workspace) && filepath.Base(w.Name) == w.Name && w.Description == purpose // its mark is a file of this name
}

// busyWorkspace finds a workspace that has open tasks, besides those of runs; empty: none has.
func busyWorkspace(ctx context.Context, owner *client.Client) (name string, open int64, err error) {
	err = inUse(ctx, owner, admin.WorkspaceOptions{Used: true, Limit: 500}, func(w *admin.Workspace) (more bool) {
		if !ofRuns(w) && w.Used != nil && w.Used.OpenTasks > 0 {
			name, open = w.Name, w.Used.OpenTasks
		}
		return name == ""
	})
	return name, open, err
}

// inUse calls fn with each workspace of a list that is not archived, in the order of their names, while it wants more.
func inUse(ctx context.Context, owner *client.Client, o admin.WorkspaceOptions, fn func(w *admin.Workspace) (more bool)) error {
	for {
		page, err := admin.New(owner).Workspaces(ctx, o)
		if err != nil {
			return err
		}
		for i := range page.Workspaces {
			if w := &page.Workspaces[i]; w.Archived.IsZero() && !fn(w) {
				return nil
			}
		}
		if o.After = page.Next; o.After == "" {
			return nil
		}
	}
}

// entriesOf is how many entries each workspace has made.
func entriesOf(ctx context.Context, owner *client.Client, names []string) (map[string]int64, error) {
	of := map[string]int64{}
	for _, name := range names {
		w, err := admin.New(owner).Workspace(ctx, name)
		if err != nil {
			return nil, err
		}
		if w.Used != nil {
			of[name] = w.Used.EntriesToday
		}
	}
	return of, nil
}

// clearLeft cleans up the workspace of a run as the run would have.
func clearLeft(ctx context.Context, owner *client.Client, o Options, name string) error {
	made, err := owner.CreateToken(ctx, client.TokenInput{Role: client.RoleAdmin, Name: administrator, Workspace: name})
	if err != nil {
		return err
	}
	s := &stand{o: o, url: owner.URL(), owner: owner, transport: pool(1, o.TLS), workspace: name, token: made.ID}
	c, err := dial(s.url, made.Text, s.transport)
	if err != nil {
		return err
	}
	s.admin = admin.New(c)
	agents, err := s.admin.Agents(ctx)
	if err != nil {
		return err
	}
	for i := range agents.Agents {
		s.names = append(s.names, agents.Agents[i].Name)
	}
	tokens, err := s.admin.Tokens(ctx)
	if err != nil {
		return err
	}
	for i := range tokens.Tokens {
		if k := &tokens.Tokens[i]; k.Revoked.IsZero() && k.ID != made.ID {
			s.tokens = append(s.tokens, k.ID)
		}
	}
	if !ofRun(agents.Agents, tokens.Tokens, made.ID) {
		_, err := s.admin.RevokeToken(ctx, made.ID)
		return errors.Join(errOther, err)
	}
	return s.clear(ctx)
}

// ofRun reports whether a workspace is as a run makes it, besides the token with an id: the administrator bench, and agents that are named after it.
func ofRun(agents []client.Agent, tokens []client.Token, besides string) bool {
	owned := false
	for i := range tokens {
		switch k := &tokens[i]; {
		case k.ID == besides:
		case k.Role == client.RoleAdmin && k.Name == administrator:
			owned = true
		case k.Role != client.RoleAgent || !strings.HasPrefix(k.Name, workspace):
			return false
		}
	}
	return owned && !slices.ContainsFunc(agents, func(a client.Agent) bool { return !strings.HasPrefix(a.Name, workspace) })
}
