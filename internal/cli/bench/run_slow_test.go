//go:build slow

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	kit "github.com/trapezehq/trapeze/trapezetest"
)

// left is what a run left in its workspace.
func left(t *testing.T, s *kit.Server, workspace string) (tasks []client.TaskRow, agents []client.Agent, tokens int) {
	t.Helper()
	if _, err := admin.New(s.Admin()).RestoreWorkspace(t.Context(), workspace); err != nil {
		t.Fatal(err)
	}
	made, err := s.Admin().CreateToken(t.Context(), client.TokenInput{Role: client.RoleAdmin, Name: "look", Workspace: workspace})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), made.Text, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.Tasks(t.Context(), client.TaskFilter{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all.Tokens {
		if k.Revoked.IsZero() && k.ID != made.ID {
			tokens++
		}
	}
	return page.Tasks, list.Agents, tokens
}

func TestEveryKindOfLoadIsMeasuredAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	for _, c := range []struct {
		o      Options
		stages string
	}{
		{Options{Kind: kindWarm, Over: overHTTP}, "create seen accept received complete whole"},
		{Options{Kind: kindWarm, Over: overHTTP, Direct: true, Envelope: 300}, "create accept received complete whole"},
		{Options{Kind: kindDelegation, Over: overHTTP}, "create seen accept received complete result whole"},
		{Options{Kind: kindClaim, Over: overHTTP}, "create seen accept received complete whole"},
		{Options{Kind: kindWarm, Over: overMCP, Envelope: 300}, "create seen accept received complete whole"},
		{Options{Kind: kindDelegation, Over: overMCP, Envelope: 300}, "create seen accept received complete result whole"},
		{Options{Kind: kindClaim, Over: overMCP}, "create seen accept received complete whole"},
	} {
		t.Run(fmt.Sprintf("%+v", c.o), func(t *testing.T) {
			c.o.Clients, c.o.For = []int{1, 3}, time.Millisecond // each client does one handoff at least
			var notes []string
			var rep *Report
			for try, stood := 0, true; stood && try < 10; try++ { // what is under way while the machine stands still does not count
				var err error
				notes = nil
				rep, err = run(t.Context(), s.Admin(), c.o, func(format string, args ...any) {
					if note := fmt.Sprintf(format, args...); !strings.Contains(note, " per second now") { // of a round that takes long
						notes = append(notes, note)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				stood = slices.ContainsFunc(rep.Rounds, func(r Round) bool { return r.Stood > 0 })
			}
			if len(rep.Rounds) != 2 || rep.Interrupted || len(notes) != 5 {
				t.Fatalf("%+v, notes: %q", rep, notes)
			}
			for n, r := range rep.Rounds { // what is said last of a round is what the table has
				if want := fmt.Sprintf("%s: %d handoffs in all, %d failed", people(r.Clients), r.Handoffs, r.Failed); notes[2*n+1] != want {
					t.Errorf("%q, want %q", notes[2*n+1], want)
				}
			}
			for _, r := range rep.Rounds {
				var names []string
				for _, st := range r.Stages {
					names = append(names, st.Stage)
					if st.Count != r.Handoffs || st.P50 > st.P95 || st.P95 > st.P99 || st.P99 > st.Max {
						t.Errorf("stage %+v of %d handoffs", st, r.Handoffs)
					}
				}
				if got := strings.Join(names, " "); got != c.stages || r.Handoffs < r.Clients || r.Failed > 0 {
					t.Errorf("stages %q, want %q: %+v", got, c.stages, r)
				}
			}
			if tasks, agents, tokens := left(t, s, rep.Workspace); len(tasks)+len(agents)+tokens > 0 {
				t.Errorf("left: tasks %v, agents %v, %d tokens", tasks, agents, tokens)
			}
		})
	}
}

func TestAnInterruptionEndsTheRunAndStillCleansUp(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	ctx, interrupt := context.WithCancel(t.Context())
	o := Options{Clients: []int{2, 2}, For: time.Hour, Kind: kindWarm, Over: overHTTP}
	rep, err := run(ctx, s.Admin(), o, func(format string, args ...any) {
		if strings.HasPrefix(fmt.Sprintf(format, args...), "2 clients for") { // the first round begins
			interrupt()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !rep.Interrupted || len(rep.Rounds) != 1 {
		t.Errorf("%+v", rep)
	}
	if tasks, agents, tokens := left(t, s, rep.Workspace); len(tasks)+len(agents)+tokens > 0 {
		t.Errorf("left: tasks %v, agents %v, %d tokens", tasks, agents, tokens)
	}
}

// A handoff that a receiver never completes is left over: cleaning up cancels it.
func TestTasksThatAreLeftAreCancelled(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	st, err := build(t.Context(), s.Admin(), Options{Clients: []int{1}, Kind: kindWarm, Over: overHTTP})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := st.by[0].send(t.Context(), client.CreateInput{Intent: "left", Send: &client.SendInput{To: []string{st.names[1]}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.clear(t.Context()); err != nil {
		t.Error(err)
	}
	if tasks, agents, tokens := left(t, s, st.workspace); len(tasks)+len(agents)+tokens > 0 {
		t.Errorf("left: tasks %v, agents %v, %d tokens", tasks, agents, tokens)
	}
}

func TestAFailureIsCountedByTheCodeOfItsRefusal(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	o := Options{Clients: []int{1}, For: time.Millisecond, Kind: kindWarm, Over: overHTTP, Direct: true}
	for _, over := range []string{overHTTP, overMCP} {
		o.Over = over
		st, err := build(t.Context(), s.Admin(), o)
		if err != nil {
			t.Fatal(err)
		}
		f := &field{o: o, parties: st.by, names: []string{"nobody", "nobody", "nobody", "nobody"}, waiting: map[string]*waiter{}}
		got := newSamples()
		f.run(t.Context(), newPeriod(1, o.For, time.Now()), got)
		if r := round(1, 1, got); r.Handoffs > 0 || len(r.Failures) != 1 || r.Failures[0].Code != string(client.NotFound) {
			t.Errorf("over %s: %+v", over, r)
		}
		if err := st.clear(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestABusyServerAndAStrangerAreRefused(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	if err := mayRun(t.Context(), s.Client("baker"), true); err == nil || !strings.Contains(err.Error(), "administrator") {
		t.Errorf("an agent: %v", err)
	}
	if err := mayRun(t.Context(), s.Admin(), false); err != nil {
		t.Error(err)
	}
	for name, description := range map[string]string{"bench-abcdefabcdef": purpose, "theirs": ""} { // a run's own tasks are for its sweep
		made, err := admin.New(s.Admin()).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: name, Description: description})
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(s.URL(), made.Token.Text, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "bake"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := mayRun(t.Context(), s.Admin(), false); err == nil || !strings.Contains(err.Error(), "1 in workspace theirs") {
		t.Errorf("open tasks in another workspace: %v", err)
	}
	if err := mayRun(t.Context(), s.Admin(), true); err != nil {
		t.Error(err)
	}
	theirs, err := s.Admin().CreateToken(t.Context(), client.TokenInput{Role: client.RoleAdmin, Name: "ann", Workspace: "theirs"})
	if err != nil {
		t.Fatal(err)
	}
	ann, err := client.New(s.URL(), theirs.Text, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ann.Close()
	_, err = run(t.Context(), ann, Options{Clients: []int{1}, For: time.Millisecond, Kind: kindWarm, Over: overHTTP}, func(format string, args ...any) {
		t.Errorf("nothing was made, and it says: "+format, args...)
	})
	if !errors.Is(err, client.NotPermitted) {
		t.Errorf("an admin of another workspace: %v", err)
	}
	if _, err := admin.New(s.Admin()).ArchiveWorkspace(t.Context(), "theirs", admin.ArchiveInput{Why: "nobody works there"}); err != nil {
		t.Fatal(err)
	}
	if err := mayRun(t.Context(), s.Admin(), false); err != nil {
		t.Errorf("an archived workspace, in which nothing happens: %v", err)
	}
	task := s.Create(client.CreateInput{Intent: "bake"})
	if err := mayRun(t.Context(), s.Admin(), false); err == nil || !strings.Contains(err.Error(), task) {
		t.Errorf("a server with open tasks: %v", err)
	}
	if err := mayRun(t.Context(), s.Admin(), true); err != nil {
		t.Error(err)
	}
}

// TestWhatAKilledRunLeftIsCleanedUp: its tasks, agents and tokens; what another run uses stays.
func TestWhatAKilledRunLeftIsCleanedUp(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	o := Options{Kind: kindWarm, Over: overHTTP, Clients: []int{2}, markDir: t.TempDir()}
	distant := o
	distant.markDir = t.TempDir()
	begin := func(o Options) *stand {
		st, err := build(t.Context(), s.Admin(), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.by[0].send(t.Context(), client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{st.names[1]}}}); err != nil {
			t.Fatal(err)
		}
		return st
	}
	killed, stopped, farOff, running := begin(o), begin(o), begin(distant), begin(distant)
	if err := killed.mark.Close(); err != nil { // as the system does when a process ends
		t.Fatal(err)
	}
	for _, name := range []string{"bench-of-theirs", "others"} { // not made by a run
		if _, err := admin.New(s.Admin()).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: name, Bearer: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	work := func(ctx context.Context) error {
		_, err := running.by[0].send(ctx, client.CreateInput{Intent: "more work", Send: &client.SendInput{To: []string{running.names[1]}}})
		return err
	}
	waits := 0
	for _, c := range []struct {
		clean          bool
		killed         *stand
		busy, distance []*stand // whose processes live, and may live
	}{{false, killed, []*stand{stopped}, []*stand{farOff, running}}, {true, farOff, []*stand{stopped}, []*stand{running}}} {
		o.Clean = c.clean
		swept, err := sweep(t.Context(), s.Admin(), o, func(ctx context.Context) error { waits++; return work(ctx) })
		if err != nil || len(swept.Cleaned) != 1 || swept.Cleaned[0] != c.killed.workspace || len(swept.Busy) != len(c.busy)+len(c.distance) {
			t.Fatalf("%+v, %v", swept, err)
		}
		for _, st := range slices.Concat(c.busy, c.distance) {
			if !slices.Contains(swept.Busy, st.workspace) {
				t.Errorf("%+v lacks %s", swept, st.workspace)
			}
		}
		if tasks, agents, tokens := left(t, s, c.killed.workspace); len(tasks)+len(agents)+tokens > 0 {
			t.Errorf("left: %v, %v, %d tokens", tasks, agents, tokens)
		}
	}
	if waits != 1 {
		t.Errorf("it waited %d times", waits)
	}
	if _, err := running.by[0].send(t.Context(), client.CreateInput{Intent: "still at work", Send: &client.SendInput{To: []string{running.names[1]}}}); err != nil {
		t.Errorf("the other run: %v", err)
	}
}

func TestAWorkspaceThatNoRunMadeStays(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	if _, err := admin.New(s.Admin()).CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "bench-abcdefabcdef", Description: purpose}); err != nil {
		t.Fatal(err)
	}
	swept, err := sweep(t.Context(), s.Admin(), Options{Clean: true}, func(context.Context) error { return nil })
	if err != nil || len(swept.Cleaned) > 0 || len(swept.Others) != 1 {
		t.Errorf("%+v, %v", swept, err)
	}
	if w, err := admin.New(s.Admin()).Workspace(t.Context(), "bench-abcdefabcdef"); err != nil || !w.Archived.IsZero() {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestARunWhoseWorkspaceIsCleanedUpEnds(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	o := Options{Clients: []int{2, 2}, For: time.Hour, Kind: kindWarm, Over: overHTTP, Direct: true}
	rep, err := run(t.Context(), s.Admin(), o, func(format string, args ...any) {
		if !strings.HasPrefix(fmt.Sprintf(format, args...), "2 clients for") {
			return
		}
		distant := o
		distant.Clean, distant.markDir = true, t.TempDir()
		if swept, err := sweep(t.Context(), s.Admin(), distant, func(context.Context) error { return nil }); err != nil || len(swept.Cleaned) != 1 {
			t.Errorf("%+v, %v", swept, err)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "was cleaned up during the run") || strings.Contains(err.Error(), "not cleaned up") || rep == nil || len(rep.Rounds) != 1 || rep.Rounds[0].Failed > 4 {
		t.Errorf("%v: %+v", err, rep)
	}
}
