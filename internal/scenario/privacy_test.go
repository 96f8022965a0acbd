package scenario

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
	"github.com/trapezehq/trapeze/internal/usecase/tokens"
	"github.com/trapezehq/trapeze/internal/usecase/workspaces"
)

const secret = "the-password-is-swordfish"

func TestAReceiverOfOneEnvelopeDoesNotReadTheNext(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder", "friend")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "fix", Start: true})
		ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "friend"})
		})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Content: envelopes.Content{Notes: secret}})
		for _, id := range []string{r.Handoff, r.Task} {
			s, err := call(h.agent("friend"), func(c caller.Caller) (envelopes.Sheet, error) {
				return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: id})
			})
			if err == nil {
				h.Errorf("friend reads %s, which was offered to coder: %s", id, s.Envelope)
			}
		}
		ok(h, h.agent("coder"), func(c caller.Caller) (envelopes.Sheet, error) {
			return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: r.Handoff})
		})
	})
}

func TestTheTrailGivesEnvelopesOnlyToTheirReceivers(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder", "other")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "who?", Start: true})
		h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder", "other"}, Kind: event.Broadcast, Content: envelopes.Content{Notes: secret}})
		h.wait("coder")
		trail := func(by caller.Caller) string {
			tr := ok(h, by, func(c caller.Caller) (*view.Trail, error) { return h.app.History.Trail(ctx(h), c, r.Task) })
			b, err := json.Marshal(tr)
			if err != nil {
				h.Fatal(err)
			}
			for _, f := range []view.Format{view.FormatJSON, view.FormatLines, view.FormatCSV} {
				ok(h, by, func(c caller.Caller) (bool, error) {
					var out bytes.Buffer
					err := h.app.History.Export(ctx(h), c, history.ExportInput{Task: r.Task, Format: f}, &out)
					b = append(b, out.Bytes()...)
					return true, err
				})
			}
			return string(b)
		}
		if got := trail(h.agent("coder")); strings.Contains(got, secret) || !strings.Contains(got, "handoff-offered") {
			h.Errorf("a candidate of a claim reads the content: %s", got)
		}
		for _, by := range []caller.Caller{h.agent("lead"), h.operator(), h.as(identity.Auditor, "kim")} {
			if got := trail(by); strings.Count(got, secret) < 4 {
				h.Errorf("%s lacks content", by)
			}
		}
	})
}

func TestWhatWasApprovedIsWhatTheReceiverGets(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead", "coder", "friend")
		r := h.create(h.agent("lead"), tasks.CreateInput{Intent: "deploy", Start: true})
		r = h.send(h.agent("lead"), r, handoffs.SendInput{To: []string{"coder"}, Kind: event.Supervised, Content: envelopes.Content{Notes: "carefully"}})
		ok(h, h.operator(), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Approve(ctx(h), c, tasks.ApproveInput{ID: r.Handoff, Digest: r.Envelope})
		})
		ok(h, h.agent("lead"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Share(ctx(h), c, tasks.ShareInput{Task: r.Task, Epoch: r.Epoch, To: "friend", Content: envelopes.Content{Ask: "skip all checks"}})
		})
		a := h.accept("coder", h.wait("coder"))
		if a.Content.Digest != r.Envelope || strings.Contains(string(a.Content.Envelope), "skip all checks") {
			h.Errorf("%s was approved, coder got %s: %s", r.Envelope, a.Content.Digest, a.Content.Envelope)
		}
		s := ok(h, h.agent("coder"), func(c caller.Caller) (envelopes.Sheet, error) {
			return h.app.Envelopes.Fetch(ctx(h), c, envelopes.ContentInput{ID: r.Task})
		})
		if s.Digest != r.Envelope {
			h.Errorf("the task's content is %s", s.Digest)
		}
	})
}

func TestAnAnnotationNamesAnEntryOfItsTask(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		mine := h.create(h.agent("ann"), tasks.CreateInput{Intent: "mine", Start: true})
		other := h.create(h.agent("bob"), tasks.CreateInput{Intent: "other", Start: true})
		for _, entry := range []uint64{uint64(other.Position), uint64(other.Position) + 1000} {
			_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
				return h.app.Tasks.Annotate(ctx(h), c, tasks.AnnotateInput{Task: mine.Task, Entry: entry, Note: "wrong"})
			})
			if refusal.CodeOf(err) != refusal.NotFound {
				h.Errorf("entry %d of another task: %v", entry, err)
			}
		}
	})
}

func TestATokenIsMadeOnceUnderOneKey(t *testing.T) {
	story(t, func(h *harness) {
		admin := h.as(identity.Admin, "root").WithKey("one-token")
		mint := func(label string) (tokens.Token, error) {
			for {
				tok, err := h.app.Tokens.Create(ctx(h), admin, tokens.TokenInput{Role: identity.Auditor, Name: "kim", Label: label})
				if refusal.CodeOf(err) != refusal.Unknown {
					return tok, err
				}
			}
		}
		first, err := mint("laptop")
		if err != nil {
			h.Fatal(err)
		}
		again, err := mint("laptop")
		if err != nil || again.ID != first.ID || again.Text != "" {
			h.Errorf("repeated: %+v, %v; first %s", again, err, first.ID)
		}
		if _, err := mint("phone"); refusal.CodeOf(err) != refusal.Conflict {
			h.Errorf("another token under the same key: %v", err)
		}
	})
}

func TestEscalatingATaskThatNobodyOwnsNeedsAName(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "later"})
		_, err := call(h.agent("ann"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Escalate(ctx(h), c, tasks.EscalateInput{Task: r.Task})
		})
		if refusal.CodeOf(err) != refusal.Invalid {
			h.Errorf("escalated to nobody: %v", err)
		}
	})
}

func TestAnAgentThatWaitsForItsInboxIsPresent(t *testing.T) {
	story(t, func(h *harness) {
		h.register("ann", agents.AgentSpec{PresenceTTL: event.Duration(20 * time.Second)})
		done := make(chan error, 1)
		go func() {
			_, err := known(h, h.agent("ann"), h.app.Tasks.Inbox, tasks.InboxInput{Wait: tasks.MaxWait})
			done <- err
		}()
		time.Sleep(45 * time.Second)
		a, err := h.app.Agents.Show(ctx(h), h.operator(), "ann")
		if err != nil || a.Readiness != agent.Ready {
			h.Errorf("ann waits and is %s, %v", a.Readiness, err)
		}
		if err := <-done; err != nil {
			h.Fatal(err)
		}
		h.readiness("ann", agent.Offline)
	})
}

func TestAnAgentThatWorksIsPresent(t *testing.T) {
	story(t, func(h *harness) {
		h.register("ann", agents.AgentSpec{PresenceTTL: event.Duration(20 * time.Second)})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "long", Start: true})
		for range 4 {
			time.Sleep(15 * time.Second)
			h.progress("ann", r, "still at it")
		}
		if a, err := h.app.Agents.Show(ctx(h), h.operator(), "ann"); err != nil || a.Readiness != agent.Ready {
			h.Errorf("ann works and is %s, %v", a.Readiness, err)
		}
	})
}

func TestOffersThatWaitForAnAnswerTakeUpRoom(t *testing.T) {
	story(t, func(h *harness) {
		h.join("lead")
		h.register("ann", agents.AgentSpec{MaxTasks: 1})
		for range 3 {
			h.create(h.operator(), tasks.CreateInput{Intent: "do", Send: &handoffs.SendInput{To: []string{"ann"}}})
		}
		h.settle()
		for range 3 {
			box := ok(h, h.agent("ann"), func(c caller.Caller) (view.Inbox, error) { return h.app.Tasks.Inbox(ctx(h), c, tasks.InboxInput{}) })
			seen := 0
			for _, i := range box.Items {
				if i.Seen {
					seen++
				}
			}
			if len(box.Items) != 3 || seen != 1 {
				h.Fatalf("ann has room for one and %d of %d offers count as seen", seen, len(box.Items))
			}
			h.settle()
		}
	})
}

func TestAnAgentSeesItsOwnTasksAndNobodyElses(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob", "eve")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "private", Start: true})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}})
		h.wait("bob")
		for name, want := range map[string]bool{"ann": true, "bob": true, "eve": false} {
			_, err := call(h.agent(name), func(c caller.Caller) (taskstore.Task, error) { return h.app.Tasks.Show(ctx(h), c, r.Task) })
			if (err == nil) != want || err != nil && refusal.CodeOf(err) != refusal.NotFound {
				h.Errorf("%s reads the task: %v", name, err)
			}
			list, err := known(h, h.agent(name), h.app.Tasks.List, tasks.TasksInput{})
			if err != nil || (len(list) == 1) != want {
				h.Errorf("%s lists %d tasks, %v", name, len(list), err)
			}
		}
		_, err := call(h.agent("eve"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: r.Task})
		})
		if refusal.CodeOf(err) != refusal.NotFound {
			h.Errorf("eve cancels: %v", err)
		}
		_, err = call(h.as(identity.Auditor, "kim"), func(c caller.Caller) (taskstore.Receipt, error) {
			return h.app.Tasks.Cancel(ctx(h), c, tasks.CancelInput{ID: r.Task})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("an auditor cancels: %v", err)
		}
	})
}

func TestAnotherWorkspaceSeesNothing(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "bob")
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "ours", Send: &handoffs.SendInput{To: []string{"bob"}}})
		admin := h.as(identity.Admin, "root")
		made := ok(h, admin, func(c caller.Caller) (workspaces.Workspace, error) {
			return h.app.Workspaces.Create(ctx(h), c, workspaces.WorkspaceInput{Name: "other", Bearer: "lea"})
		})
		foreign, err := h.app.Tokens.Authenticate(ctx(h), made.Token.Text)
		if err != nil || foreign.Workspace != "other" {
			h.Fatalf("the token of another workspace speaks for %+v, %v", foreign, err)
		}
		if _, err := known(h, foreign, h.app.Tasks.Show, r.Task); refusal.CodeOf(err) != refusal.NotFound {
			h.Errorf("another workspace reads the task: %v", err)
		}
		h.settle()
		list, err := known(h, foreign, h.app.Tasks.List, tasks.TasksInput{})
		agentsList, err2 := h.app.Agents.List(ctx(h), foreign)
		theirTokens, err3 := h.app.Tokens.List(ctx(h), foreign)
		if err != nil || err2 != nil || err3 != nil || len(list)+len(agentsList) > 0 || len(theirTokens) != 1 {
			h.Errorf("another workspace lists %d tasks, %d agents, %d tokens; %v, %v, %v", len(list), len(agentsList), len(theirTokens), err, err2, err3)
		}
		_, err = call(foreign, func(c caller.Caller) (tokens.Token, error) {
			return h.app.Tokens.Create(ctx(h), c, tokens.TokenInput{Role: identity.Admin, Name: "lea", Workspace: identity.DefaultWorkspace})
		})
		if refusal.CodeOf(err) != refusal.NotPermitted {
			h.Errorf("another workspace made a token for ours: %v", err)
		}
		register := func(c caller.Caller) (agents.Agent, error) {
			return h.app.Agents.Register(ctx(h), c, agents.RegisterInput{Name: "bob"})
		}
		theirs := ok(h, foreign, register)
		if ours := ok(h, h.operator(), func(c caller.Caller) (agents.Agent, error) { return h.app.Agents.Show(ctx(h), c, "bob") }); ours.Position == theirs.Position {
			h.Error("two workspaces share an agent")
		}
	})
}
