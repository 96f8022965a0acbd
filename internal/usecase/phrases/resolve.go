package phrases

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
	"github.com/trapezehq/trapeze/internal/domain/visible"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/routing/phrase"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

const (
	maxChoices = 10 // tasks or capabilities that a question lists
	briefly    = 60 // bytes of their intents
)

// checkAgent puts in the identity of the agent, and refuses (not_found) one that is not registered, with those that come closest.
func (ps *Phrases) checkAgent(ctx context.Context, c caller.Caller, said *phrase.Instruction) error {
	name := said.Agent
	if name == "" {
		return nil
	}
	known, err := ps.agents.Find(ctx, c.Workspace, name, false)
	if err != nil || known.Exists() {
		said.Agent = known.Name
		return err
	}
	agents, err := ps.views.Agents(ctx, c.Workspace)
	if err != nil {
		return stream.Unavailable(err)
	}
	names := make([]string, 0, len(agents))
	for _, a := range agents {
		names = append(names, a.Name)
	}
	return unknown("agent", name, names)
}

// checkCapability refuses a capability that no agent has (not_found), and a specialist in nothing (invalid), unless there is a
// policy to say in what.
func (ps *Phrases) checkCapability(ctx context.Context, c caller.Caller, said phrase.Instruction) error {
	if said.Intent != phrase.Specialist {
		return nil
	}
	if said.Capability == "" {
		if p, err := ps.policies.Policy(ctx, c.Workspace); err != nil || p != nil {
			return err // the policy says in what
		}
	}
	agents, err := ps.views.Agents(ctx, c.Workspace)
	if err != nil {
		return stream.Unavailable(err)
	}
	var all []string
	for _, a := range agents {
		all = append(all, a.Spec.Capabilities...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	switch {
	case said.Capability == "":
		return refusal.New(refusal.Invalid, "say for example: "+said.Canonical()+" in CAPABILITY; there is "+choice(all), "it does not say in what").
			With("why", phrase.Incomplete).With("capabilities", all[:min(len(all), maxChoices)])
	case slices.Contains(all, said.Capability):
		return nil
	}
	return unknown("capability", said.Capability, all)
}

// choice lists names, not too many.
func choice(names []string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > maxChoices:
		return strings.Join(names[:maxChoices], ", ") + fmt.Sprintf(" and %d more", len(names)-maxChoices)
	}
	return strings.Join(names, ", ")
}

func unknown(what, name string, names []string) error {
	if len(names) == 0 {
		return refusal.New(refusal.NotFound, "[register one](agent add) first", "there is no %s %s; there is none at all", what, name)
	}
	near := routing.Closest(name, names)
	return refusal.New(refusal.NotFound, "did you mean "+strings.Join(near, ", ")+"? say it again with the right name",
		"there is no %s %s", what, name).With("did_you_mean", near)
}

// resolve finds the task that "this" means: the only one that it can be. Of several, it asks which.
func (ps *Phrases) resolve(ctx context.Context, c caller.Caller, said *phrase.Instruction) error {
	if said.Task != "" || !means(*said) {
		return nil
	}
	f := view.TaskFilter{Live: true, Owner: c.Agent(), Limit: maxChoices + 1}
	whose := "you hold"
	switch {
	case said.Intent == phrase.Takeover && said.Agent == "":
		return refusal.New(refusal.Invalid, "say: [take over](takeover) from AGENT, or name the task", "the sentence names no owner to take over from").With("why", phrase.Incomplete)
	case said.Intent == phrase.Takeover:
		f.Owner, whose = said.Agent, "of agent "+said.Agent+" that you may see"
	case c.Agent() == "":
		f.Involving, whose = c.String(), "still open that you requested"
	}
	if said.Intent == phrase.Stuck && c.Agent() != "" { // one's own work is for oneself to hand on
		f.Owner, f.Limit, whose = "", view.MaxPage, "you requested that somebody else works on"
	}
	tasks, err := ps.tasks.List(ctx, c, tasks.TasksInput{TaskFilter: f})
	if err != nil {
		return err
	}
	if said.Intent == phrase.Stuck {
		tasks = slices.DeleteFunc(tasks, func(t view.TaskRow) bool {
			return t.Requester != c.String() || t.Owner == "" || t.Owner == c.Agent()
		})
	}
	if len(tasks) == 1 {
		said.Task = tasks[0].ID
		return nil
	}
	if len(tasks) == 0 {
		return refusal.New(refusal.Invalid, "name the task", "there is no task %s, so it is not clear which is meant", whose)
	}
	return which(tasks, "there are %s tasks %s, so it is not clear which is meant", number(tasks), whose)
}

func number(tasks []view.TaskRow) string {
	if len(tasks) > maxChoices {
		return fmt.Sprintf("more than %d", maxChoices)
	}
	return fmt.Sprint(len(tasks))
}

// which asks which of several tasks is meant.
func which(tasks []view.TaskRow, format string, args ...any) *refusal.Error {
	type one struct {
		ID     string `json:"id"`
		Intent string `json:"intent"`
		Owner  string `json:"owner,omitempty"`
	}
	var list []one
	var lines []string
	for _, t := range tasks[:min(len(tasks), maxChoices)] {
		list = append(list, one{t.ID, refusal.Clip(t.Intent, briefly), t.Owner})
		lines = append(lines, t.ID+" ("+shellword.Quote(visible.Line(refusal.Clip(t.Intent, briefly)))+")")
	}
	return refusal.New(refusal.Invalid, "name one of: "+strings.Join(lines, "; "), format, args...).
		With("why", phrase.Ambiguous).With("tasks", list)
}

// near adds to the refusal of a task that is not there those whose ids come closest, of the newest that the caller may see.
func (ps *Phrases) near(ctx context.Context, c caller.Caller, id string, err error) error {
	if refusal.CodeOf(err) != refusal.NotFound {
		return err
	}
	tasks, listed := ps.tasks.List(ctx, c, tasks.TasksInput{TaskFilter: view.TaskFilter{Live: true, Limit: view.MaxPage}})
	if listed != nil || len(tasks) == 0 {
		return err
	}
	byID := make(map[string]view.TaskRow, len(tasks))
	for _, t := range tasks {
		byID[t.ID] = t
	}
	var nearest []view.TaskRow
	for _, name := range routing.Closest(id, slices.Sorted(maps.Keys(byID)))[:min(len(tasks), 3)] {
		nearest = append(nearest, byID[name])
	}
	r := which(nearest, "there is no task %s that you may see", id)
	r.Code = refusal.NotFound
	return r
}
