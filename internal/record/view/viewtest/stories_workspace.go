package viewtest

import (
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
)

// space records facts about a workspace.
func (s *stage) space(name string, events ...workspace.Event) {
	s.Helper()
	was := s.ws
	s.ws = identity.DefaultWorkspace
	record(s, "workspace", name, s.spaces, events...)
	s.ws = was
}

// uses are the numbers of open tasks, agents and entries today that are wanted of a workspace.
func (s *stage) uses(tasks, agents, entries int64) {
	s.Helper()
	open, err := s.views.OpenTasks(s.ctx, s.ws)
	if err != nil || open != tasks {
		s.Errorf("%s has %d open tasks, %v, want %d", s.ws, open, err, tasks)
	}
	if n, err := s.views.AgentCount(s.ctx, s.ws); err != nil || n != agents {
		s.Errorf("%s has %d agents, %v, want %d", s.ws, n, err, agents)
	}
	if n, err := s.views.EntriesOn(s.ctx, s.ws, s.now); err != nil || n != entries {
		s.Errorf("%s has %d entries today, %v, want %d", s.ws, n, err, entries)
	}
}

func madeStory(s *stage) {
	s.space("red", workspace.Created{Name: "red", By: "admin/ann", At: s.now})
	s.space("blue", workspace.Created{Name: "blue", By: "admin/ann", At: s.now}, workspace.Limited{Name: "blue", Limits: workspace.Limits{Agents: 7}})
	s.space("red", workspace.Archived{By: "admin/ann", Why: "over", At: s.now})
	list, err := s.views.MadeWorkspaces(s.ctx)
	if err != nil || len(list) != 2 || list[0].Name != "blue" || list[0].Limits.Agents != 7 || list[1].Name != "red" || list[1].Why != "over" {
		s.Errorf("%+v, %v", list, err)
	}
	s.ws = "blue"
	s.uses(0, 0, 0)
	s.register("bob")
	s.register("cy")
	record[agent.Event](s, "agent", "cy", s.agents, agent.Removed{})
	s.create(1, operator)
	s.uses(1, 1, 4)
	s.ws = "red"
	s.uses(0, 0, 0)
	s.ws = "blue"
	s.do(id(1), handoff.Cancel{By: operator})
	s.uses(0, 1, 5)
	s.now = s.now.Add(24 * time.Hour)
	s.uses(0, 1, 0)
	s.register("dan")
	s.uses(0, 2, 1)
	if n, err := s.views.EntriesOn(s.ctx, s.ws, s.now.Add(-24*time.Hour)); err != nil || n != 5 {
		s.Errorf("%s had %d entries the day before, %v, want 5", s.ws, n, err)
	}
}

func archivedStory(s *stage) {
	due := func() (refs []string) {
		s.Helper()
		list, _, err := s.views.Due(s.ctx, s.now.Add(1000*time.Hour), 10)
		if err != nil {
			s.Fatal(err)
		}
		for _, r := range list {
			refs = append(refs, r.Workspace+" "+r.Task)
		}
		slices.Sort(refs)
		return refs
	}
	for _, ws := range []string{"blue", "red"} {
		s.ws = ws
		s.register("bob")
		s.create(1, operator)
		s.do(id(1), s.to(id(1), "bob"))
	}
	blue, both := []string{"blue " + id(1)}, []string{"blue " + id(1), "red " + id(1)}
	if got := due(); !slices.Equal(got, both) {
		s.Fatalf("due: %q", got)
	}
	s.space("red", workspace.Created{Name: "red", By: "admin/ann", At: s.now})
	s.space("red", workspace.Archived{By: "admin/ann", Why: "over", At: s.now})
	if got := due(); !slices.Equal(got, blue) {
		s.Errorf("due while red is archived: %q", got)
	}
	s.do(id(1), handoff.Accept{By: agentOf("bob"), Handoff: 1}) // the end of a decision that began before
	s.create(2, operator)
	s.do(id(2), s.to(id(2), "bob"))
	if got := due(); !slices.Equal(got, blue) {
		s.Errorf("due after later entries: %q", got)
	}
	if _, next, err := s.views.Due(s.ctx, s.now.Add(-1000*time.Hour), 1); err != nil || next.After(s.now.Add(1000*time.Hour)) {
		s.Errorf("next %v, %v", next, err)
	}
	s.space("red", workspace.Restored{By: "admin/ann", At: s.now})
	if got, want := due(), slices.Concat(both, []string{"red " + id(2)}); !slices.Equal(got, want) {
		s.Errorf("due after red is restored: %q, want %q", got, want)
	}
}
