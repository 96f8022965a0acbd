package workspace_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/ruletest"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
)

var (
	update = flag.Bool("update", false, "write the frozen events again; only for events that were never released")

	noon  = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	admin = identity.Principal{Workspace: identity.DefaultWorkspace, Role: identity.Admin, Name: "ann"}
)

// space is the stream of one workspace in a test.
type space = ruletest.Stream[workspace.State, workspace.Command, workspace.Event]

func newSpace(t *testing.T) *space {
	return &space{TB: t, Decide: workspace.Decide, Fold: workspace.Fold, Now: noon}
}

func of(n int64) *int64 { return &n }

func TestAWorkspaceIsMadeLimitedArchivedAndRestored(t *testing.T) {
	s := newSpace(t)
	s.Refused(workspace.SetLimits{By: admin, Name: "red", Agents: of(1)}, refusal.NotFound)
	s.Refused(workspace.Archive{By: admin, Name: "red", Why: "over"}, refusal.NotFound)
	s.Refused(workspace.Restore{By: admin, Name: "red"}, refusal.NotFound)
	s.Do(workspace.Create{By: admin, Name: "red", Limits: workspace.Limits{Agents: 2, OpenTasks: 5}}, "workspace-created")
	s.Refused(workspace.Create{By: admin, Name: "red"}, refusal.Conflict)
	s.Do(workspace.SetLimits{By: admin, Name: "red", Agents: of(3), EntriesPerDay: of(7)}, "workspace-limited")
	s.Do(workspace.SetLimits{By: admin, Name: "red", Agents: of(3)})
	if want := (workspace.Limits{Agents: 3, OpenTasks: 5, EntriesPerDay: 7}); s.State.Limits != want {
		t.Errorf("limits %+v, want %+v", s.State.Limits, want)
	}
	s.Do(workspace.SetLimits{By: admin, Name: "red", OpenTasks: of(0)}, "workspace-limited")
	if err := s.State.MayChange("red"); err != nil {
		t.Error(err)
	}
	s.Do(workspace.Archive{By: admin, Name: "red", Why: "the project is over"}, "workspace-archived")
	s.Do(workspace.Archive{By: admin, Name: "red", Why: "again"})
	r := ruletest.Refused(t, s.State.MayChange("red"), refusal.Conflict)
	if len(r.Helps) != 1 || r.Helps[0].Command() != "trapeze workspace restore red" || !strings.Contains(r.Message, `"the project is over"`) {
		t.Errorf("%v", r)
	}
	s.Do(workspace.SetLimits{By: admin, Name: "red", ArtifactBytes: of(9)}, "workspace-limited")
	s.Do(workspace.Restore{By: admin, Name: "red"}, "workspace-restored")
	s.Do(workspace.Restore{By: admin, Name: "red"})
	if err := s.State.MayChange("red"); err != nil || s.State.Limits.ArtifactBytes != 9 {
		t.Errorf("%+v, %v", s.State, err)
	}
}

func TestTheDefaultWorkspaceIsThereAndIsNeverArchived(t *testing.T) {
	s := newSpace(t)
	s.Refused(workspace.Create{By: admin, Name: "default"}, refusal.Conflict)
	s.Refused(workspace.Archive{By: admin, Name: "default", Why: "over"}, refusal.Invalid)
	s.Do(workspace.SetLimits{By: admin, Name: "default", OpenTasks: of(10)}, "workspace-limited")
	s.Refused(workspace.Create{By: admin, Name: "default"}, refusal.Conflict)
}

func TestOnlyAdminsOfTheDefaultWorkspaceChangeWorkspaces(t *testing.T) {
	s := newSpace(t)
	s.Refused(workspace.Create{Name: "red"}, refusal.Unauthenticated)
	for _, by := range []identity.Principal{
		{Workspace: "red", Role: identity.Admin, Name: "ann"},
		{Workspace: "default", Role: identity.Operator, Name: "olga"},
		{Workspace: "default", Role: identity.Auditor, Name: "al"},
		{Workspace: "default", Role: identity.Agent, Name: "writer"},
	} {
		s.Refused(workspace.Create{By: by, Name: "red"}, refusal.NotPermitted)
		s.Refused(workspace.SetLimits{By: by, Name: "default", Agents: of(0)}, refusal.NotPermitted)
		s.Refused(workspace.Archive{By: by, Name: "red", Why: "x"}, refusal.NotPermitted)
		s.Refused(workspace.Restore{By: by, Name: "red"}, refusal.NotPermitted)
	}
}

func TestWhatIsMalformedIsRefused(t *testing.T) {
	s := newSpace(t)
	s.Refused(workspace.Create{By: admin, Name: "Red"}, refusal.Invalid)
	s.Refused(workspace.Create{By: admin, Name: "a/b"}, refusal.Invalid)
	s.Refused(workspace.Create{By: admin, Name: "red", Limits: workspace.Limits{Agents: -1}}, refusal.Invalid)
	s.Refused(workspace.Create{By: admin, Name: "red", Description: strings.Repeat("x", 2001)}, refusal.TooLarge)
	s.Do(workspace.Create{By: admin, Name: "red"}, "workspace-created")
	s.Refused(workspace.SetLimits{By: admin, Name: "red", EntriesPerDay: of(-1)}, refusal.Invalid)
	s.Refused(workspace.SetLimits{By: admin, Name: "blue", EntriesPerDay: of(1)}, refusal.Invalid)
	s.Refused(workspace.Archive{By: admin, Name: "red", Why: " "}, refusal.Invalid)
	s.Refused(workspace.Archive{By: admin, Name: "red", Why: strings.Repeat("x", 501)}, refusal.TooLarge)
}

func TestALimitNamesItselfAndWhoCanRaiseIt(t *testing.T) {
	s := workspace.State{Limits: workspace.Limits{OpenTasks: 3, EntriesPerDay: 3, ArtifactBytes: 3, Agents: 3}}
	for _, name := range []workspace.Limit{workspace.OpenTasks, workspace.EntriesPerDay, workspace.ArtifactBytes, workspace.Agents} {
		if err := s.Check("red", name, 3); err != nil {
			t.Error(err)
		}
		if err := new(workspace.State).Check("red", name, 1<<40); err != nil {
			t.Error(err)
		}
		r := ruletest.Refused(t, s.Check("red", name, 4), refusal.Limit)
		if r.Details["limit"] != string(name) || len(r.Helps) != 1 || r.Helps[0].Command() != "trapeze workspace limit red" || !strings.Contains(r.Message, string(name)) {
			t.Errorf("%v", r)
		}
	}
}

// moved is what moves with the workspace red.
var moved = workspace.Sent{
	Name: "red", To: "https://b.example.org", Description: "what is <new>", Limits: workspace.Limits{Agents: 4}, By: "admin/ann", Created: noon, Through: 9, Entries: 5, Root: "root", Files: 1, FilesRoot: "files", Base: 9,
}

func TestAWorkspaceThatLeftChangesNoMore(t *testing.T) {
	s := newSpace(t)
	const to = "https://b.example.org"
	s.Refused(workspace.Leave{By: admin, Name: "red", To: to}, refusal.NotFound)
	s.Do(workspace.Create{By: admin, Name: "red"}, "workspace-created")
	for _, bad := range []string{"", "b.example.org", "ftp://b.example.org", "https://ann@b.example.org", "https://b.example.org/v1", "https://b.example.org/", "https://b.example.org?x", strings.Repeat("x", 501)} {
		if err := workspace.CheckAddress(bad); err == nil {
			t.Errorf("%q is an address", bad)
		}
	}
	s.Refused(workspace.Send{By: admin, Sent: moved}, refusal.Conflict)
	s.Do(workspace.Archive{By: admin, Name: "red", Why: "over"}, "workspace-archived")
	s.Refused(workspace.Leave{By: admin, Name: "red", To: to}, refusal.Conflict)
	s.Do(workspace.Restore{By: admin, Name: "red"}, "workspace-restored")
	s.Do(workspace.Leave{By: admin, Name: "red", To: to}, "workspace-left")
	s.Do(workspace.Leave{By: admin, Name: "red", To: to})
	s.Refused(workspace.Leave{By: admin, Name: "red", To: "https://c.example.org"}, refusal.Conflict)
	s.Do(workspace.Send{By: admin, Sent: moved}, "workspace-sent")
	s.Do(workspace.Send{By: admin, Sent: moved})
	s.Refused(workspace.Restore{By: admin, Name: "red"}, refusal.Conflict)
	s.Refused(workspace.SetLimits{By: admin, Name: "red", Agents: of(1)}, refusal.Conflict)
	s.Refused(workspace.Receive{By: admin, Sent: moved, Log: "a"}, refusal.Conflict)
	if r := ruletest.Refused(t, s.State.MayChange("red"), refusal.Conflict); r.Details["moved_to"] != to || !s.State.HoldsStill() {
		t.Errorf("%v", r)
	}
	newSpace(t).Refused(workspace.Leave{By: admin, Name: "default", To: to}, refusal.Invalid)
}

func TestAWorkspaceThatArrivesIsOpenOnceItIsWhole(t *testing.T) {
	s := newSpace(t)
	s.Refused(workspace.Arrive{By: admin, Name: "red", First: 12, Last: 17}, refusal.NotFound)
	s.Do(workspace.Receive{By: admin, Sent: moved, Log: "a"}, "workspace-arriving")
	s.Do(workspace.Receive{By: admin, Sent: moved, Log: "a"})
	other := moved
	other.Root = "another"
	s.Refused(workspace.Receive{By: admin, Sent: other, Log: "a"}, refusal.Conflict)
	s.Refused(workspace.Receive{By: admin, Sent: moved, Log: "b"}, refusal.Conflict)
	s.Refused(workspace.Leave{By: admin, Name: "red", To: "https://c.example.org"}, refusal.Conflict)
	s.Refused(workspace.Restore{By: admin, Name: "red"}, refusal.Conflict)
	ruletest.Refused(t, s.State.MayChange("red"), refusal.Conflict)
	s.Do(workspace.Arrive{By: admin, Name: "red", First: 12, Last: 17}, "workspace-arrived")
	s.Do(workspace.Arrive{By: admin, Name: "red", First: 12, Last: 17})
	if err := s.State.MayChange("red"); err != nil || s.State.Limits.Agents != 4 || s.State.Base != 9 || s.State.Arrived != 17 {
		t.Errorf("%+v, %v", s.State, err)
	}
	s.Do(workspace.Leave{By: admin, Name: "red", To: "https://c.example.org"}, "workspace-left")
	taken := newSpace(t)
	taken.Do(workspace.Create{By: admin, Name: "red"}, "workspace-created")
	taken.Refused(workspace.Receive{By: admin, Sent: moved, Log: "a"}, refusal.Conflict)
}

func TestTheJSONOfEventsIsFrozen(t *testing.T) {
	all := []workspace.Event{
		workspace.Created{Name: "red", Description: "what is <new>", Limits: workspace.Limits{OpenTasks: 1, EntriesPerDay: 2, ArtifactBytes: 3, Agents: 4}, By: "admin/ann", At: noon},
		workspace.Limited{Name: "red", Limits: workspace.Limits{Agents: 4}},
		workspace.Archived{By: "admin/ann", Why: "over", At: noon},
		workspace.Restored{By: "admin/ann", At: noon},
		workspace.Left{By: "admin/ann", To: "https://b.example.org", At: noon},
		moved,
		workspace.Arriving{Sent: moved, Log: "trapeze/0f3a91c2d4e5b687", At: noon},
		workspace.Arrived{First: 12, Last: 17, At: noon},
	}
	ledgertest.Frozen(t, *update, workspace.Events, all)
}
