package server

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// record records an erasure of the patient's task and does nothing else.
func (k *clinic) record(t *testing.T) {
	t.Helper()
	kind, err := stream.New("erasure", k.server.log, erasure.Fold, time.Now, erasure.Events, stream.Options[erasure.State, erasure.Event]{Cached: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.server.sealer.Begin("default"); err != nil {
		t.Fatal(err)
	}
	by := identity.Principal{Workspace: "default", Role: identity.Admin, Name: "local"}
	must(t)(kind.Do(t.Context(), stream.Write{Actor: ledger.Actor{Principal: by.String()}}, "default/erasure/current", func(s erasure.State, now time.Time) ([]erasure.Event, error) {
		return erasure.Decide(s, erasure.Erase{
			By: by, Subject: erasure.Subject{Kind: erasure.Tag, Name: "patient-4711"}, Why: "request", Files: []string{k.file},
			Streams: []string{"default/task/" + k.task, "default/memory/" + k.item, "default/conversation/visit-9~ann"},
		}, now)
	}))
}

func TestAMemoryItemThatIsForgottenIsErased(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	other, err := k.bob.Remember(t.Context(), client.RememberInput{Title: "other", Text: "the other item", Scope: "workspace"})
	must(t)(nil, err)
	held, err := k.bob.Remember(t.Context(), client.RememberInput{Title: "held", Text: "on hold is " + k.secret("held"), Scope: "workspace"})
	must(t)(nil, err)
	must(t)(k.admin.SetHold(t.Context(), admin.SubjectInput{Subject: held.ID, Why: "case 12"}))
	must(t)(k.bob.Forget(t.Context(), k.item))
	must(t)(k.bob.Forget(t.Context(), held.ID))

	all := k.forgotten(t)
	for _, gone := range []string{k.secret("title"), k.secret("memory")} {
		if strings.Contains(all, gone) {
			t.Errorf("the operator's export has %s right after the answer", gone)
		}
	}
	for _, kept := range []string{k.secret("held"), k.secret("note"), "the other item", "by agent/bob"} {
		if !strings.Contains(all, kept) {
			t.Errorf("the operator's export lacks %s", kept)
		}
	}
	must(t)(nil, k.server.UseCases.Erasures.Tend(t.Context()))
	words := k.words
	k.words = []string{k.secret("title"), k.secret("memory")}
	for _, found := range k.inFiles(t) {
		t.Error("there is still " + found)
	}
	k.words = words
	_, err = k.bob.Forget(t.Context(), other.ID[:len(other.ID)-1]+"x")
	must(t)(nil, k.server.UseCases.Erasures.Tend(t.Context()))
	if list, of := k.server.sealer.Pending(); err == nil || of != nil || len(list) > 1 {
		t.Errorf("%v is pending after %v, %v", list, err, of)
	}
	must(t)(k.admin.LiftHold(t.Context(), admin.SubjectInput{Subject: held.ID, Why: "case 12 is closed"}))
	must(t)(k.admin.Erase(t.Context(), admin.SubjectInput{Subject: held.ID, Why: "it was forgotten"}))
	if strings.Contains(k.forgotten(t), k.secret("held")) {
		t.Error("what was forgotten under a hold cannot be erased when that is lifted")
	}
	stop(t, k.server)
	if found, differ := verified(t, k.dir), views(t, k.dir); len(found)+len(differ) > 0 {
		t.Errorf("the verifier finds %v %v", found, differ)
	}
}

// forgotten is the export with what was forgotten, which is for operators.
func (k *clinic) forgotten(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	must(t)(nil, k.admin.Export(t.Context(), client.ExportOptions{Format: "jsonl", Forgotten: true}, &b))
	return b.String()
}

// TestOneWorkspaceCannotHaveTheServerErasingAllTheTime tries erasures one after the other in two workspaces, successful and not: each works on the whole record.
func TestOneWorkspaceCannotHaveTheServerErasingAllTheTime(t *testing.T) {
	t.Parallel()
	s := openErasable(t, t.TempDir())
	owner := admin.New(signedIn(t, s, token(t, s)))
	red, err := owner.CreateWorkspace(t.Context(), admin.WorkspaceInput{Name: "red"})
	must(t)(red, err)
	of := admin.New(signedIn(t, s, red.Token.Text))
	must(t)(of.RegisterAgent(t.Context(), "ann", client.AgentSpec{}))
	must(t)(of.AppendTurn(t.Context(), "talk", client.TurnInput{Role: client.SpeakerUser, Text: "hello", Agent: "ann"}))
	must(t)(of.Erase(t.Context(), admin.SubjectInput{Subject: "conversation/talk", Why: "it is over"}))
	for range 2 {
		_, err = of.Erase(t.Context(), admin.SubjectInput{Subject: "tag/none", Why: "it is over"})
		if !errors.Is(err, client.Throttled) || !strings.Contains(err.Error(), "try again in ") {
			t.Errorf("the second erasure of a workspace: %v", err)
		}
		if _, err := owner.Erase(t.Context(), admin.SubjectInput{Subject: "tag/none", Why: "it is over"}); !errors.Is(err, client.NotFound) {
			t.Errorf("an erasure of the owner of the server: %v", err)
		}
	}
}
