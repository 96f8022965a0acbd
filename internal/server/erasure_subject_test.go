package server

import (
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// TestAllThatWasMadeWithASubjectIsErasedByIt makes a task with a child, an item and a conversation that have nothing but their subject in common.
func TestAllThatWasMadeWithASubjectIsErasedByIt(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	k.end(t)
	k.words = nil // of the other patient
	const olga, nina = "patient/4712", "patient/4713"
	made, err := k.ann.CreateTask(t.Context(), client.CreateInput{Intent: "treat " + k.secret("olga"), Subject: olga, Start: true})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := k.ann.Send(t.Context(), made.Task, client.SendInput{
		Epoch: made.Epoch, To: []string{"bob"}, Kind: "delegation", Detail: "look at " + k.secret("olgas-detail"), Content: client.Content{Summary: k.secret("olgas-summary")},
	})
	if err != nil || len(sent.Children) != 1 {
		t.Fatalf("%+v, %v", sent, err)
	}
	child, err := k.admin.Task(t.Context(), sent.Children[0])
	if err != nil || child.Subject != olga {
		t.Fatalf("the child is about %q, %v", child.Subject, err)
	}
	must(t)(k.admin.Cancel(t.Context(), made.Task, client.CancelInput{Detail: "no longer needed"}))
	item, err := k.bob.Remember(t.Context(), client.RememberInput{Text: "sleeps badly, " + k.secret("olgas-memory"), Scope: "workspace", Subject: olga})
	if err != nil || item.Subject != olga {
		t.Fatalf("%+v, %v", item, err)
	}
	must(t)(k.ann.AppendTurn(t.Context(), "ward", client.TurnInput{Role: "user", Text: "I am tired, " + k.secret("olgas-turn"), Subject: olga}))
	must(t)(k.ann.AppendTurn(t.Context(), "ward", client.TurnInput{Role: "user", Text: "very tired, " + k.secret("olgas-second")}))
	_, err = k.ann.AppendTurn(t.Context(), "ward", client.TurnInput{Role: "user", Text: "so am I", Subject: nina})
	refusedWith(t, err, refusal.Conflict, "is about "+olga)
	kept, err := k.ann.Remember(t.Context(), client.RememberInput{Text: "nina sleeps well", Scope: "workspace", Subject: nina})
	if err != nil {
		t.Fatal(err)
	}

	of := admin.SubjectInput{Subject: "subject/" + olga, Why: "request"}
	for _, part := range []string{"memory/" + item.ID, "conversation/ward", "task/" + made.Task} { // a hold on the subject keeps each
		must(t)(k.admin.SetHold(t.Context(), of))
		_, err = k.admin.Erase(t.Context(), admin.SubjectInput{Subject: part, Why: "request"})
		refusedWith(t, err, refusal.Conflict, "a legal hold on "+of.Subject)
		must(t)(k.admin.LiftHold(t.Context(), of))
	}
	if n := len(k.inFiles(t)); n < len(k.words)-2 {
		t.Fatalf("the files have %d of the words: this test proves nothing", n)
	}
	e, err := k.admin.Erase(t.Context(), of)
	if err != nil || e.Streams != 4 || len(e.Kept) != 0 || e.Finished == nil {
		t.Errorf("%+v, %v", e, err)
	}
	k.check(t)
	if got, err := k.admin.Memory(t.Context(), kept.ID, client.MemoryReference{}); err != nil || got.Text != "nina sleeps well" {
		t.Errorf("of another subject: %+v, %v", got, err)
	}
	k.after(t)
}
