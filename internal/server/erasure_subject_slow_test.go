//go:build slow

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

// TestTheHoldsAndErasuresOfATaskAreThoseThatNameIt: its own, and by its tags, its subject and its ancestors; of a child and of a memory item, too.
func TestTheHoldsAndErasuresOfATaskAreThoseThatNameIt(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	ctx := t.Context()
	made, err := k.ann.CreateTask(ctx, client.CreateInput{Intent: "treat olga", Subject: "patient/4712", Tags: []string{"ward-3"}, Start: true})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := k.ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"bob"}, Kind: "delegation", Detail: "look at it"})
	if err != nil {
		t.Fatal(err)
	}
	child := sent.Children[0]
	item, err := k.ann.Remember(ctx, client.RememberInput{Text: "sleeps badly", Scope: "workspace", Task: made.Task})
	if err != nil {
		t.Fatal(err)
	}
	subjects := []string{"task/" + made.Task, "tag/ward-3", "subject/patient/4712"}
	for _, of := range append(subjects, "tag/ward-4", "subject/patient/1") {
		must(t)(k.admin.SetHold(ctx, admin.SubjectInput{Subject: of, Why: "case"}))
	}
	for name, f := range map[string]admin.ErasureFilter{"the task": {Task: made.Task}, "its child": {Task: child}, "its item": {Memory: item.ID}} {
		list, err := k.admin.Erasures(ctx, f)
		if err != nil || len(list.Holds) != len(subjects) {
			t.Errorf("%s: %+v, %v", name, list.Holds, err)
		}
	}
	must(t)(k.admin.Cancel(ctx, made.Task, client.CancelInput{}))
	for _, of := range subjects {
		must(t)(k.admin.LiftHold(ctx, admin.SubjectInput{Subject: of, Why: "closed"}))
	}
	must(t)(k.admin.Erase(ctx, admin.SubjectInput{Subject: "tag/ward-3", Why: "request"}))
	for name, f := range map[string]admin.ErasureFilter{"the task": {Task: made.Task}, "its child": {Task: child}, "its item": {Memory: item.ID}} {
		list, err := k.admin.Erasures(ctx, f)
		if err != nil || len(list.Holds) != 0 || len(list.Erasures) != 1 || list.Erasures[0].Subject != "tag/ward-3" {
			t.Errorf("%s, erased: %+v, %v", name, list, err)
		}
	}
	for f, text := range map[admin.ErasureFilter]string{
		{Task: "task_00000000000000000000000000"}: "there is no task", {Memory: "mem_00000000000000000000000000"}: "there is no memory item",
	} {
		_, err := k.admin.Erasures(ctx, f)
		refusedWith(t, err, refusal.NotFound, text)
	}
	_, err = k.admin.Erasures(ctx, admin.ErasureFilter{Task: child, Memory: item.ID})
	refusedWith(t, err, refusal.Invalid, "of a task or of a memory item")
}

// TestANameOfAConversationErasesAndHoldsAllThatAreCalledSo has two agents use the same name.
func TestANameOfAConversationErasesAndHoldsAllThatAreCalledSo(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	k.end(t)
	k.words = nil
	must(t)(k.ann.AppendTurn(t.Context(), "ward", client.TurnInput{Role: "user", Text: k.secret("anns-turn")}))
	must(t)(k.bob.AppendTurn(t.Context(), "ward", client.TurnInput{Role: "user", Text: k.secret("bobs-turn")}))
	must(t)(k.bob.Remember(t.Context(), client.RememberInput{Text: k.secret("bobs-memory"), Conversation: "ward"}))
	for _, held := range []string{"conversation/ward", "conversation/ward~bob"} {
		must(t)(k.admin.SetHold(t.Context(), admin.SubjectInput{Subject: held, Why: "case 12"}))
		for _, erased := range []string{"conversation/ward", "conversation/ward~bob"} {
			_, err := k.admin.Erase(t.Context(), admin.SubjectInput{Subject: erased, Why: "request"})
			refusedWith(t, err, refusal.Conflict, "a legal hold on "+held)
		}
		must(t)(k.admin.LiftHold(t.Context(), admin.SubjectInput{Subject: held, Why: "case 12"}))
	}
	_, err := k.admin.Erase(t.Context(), admin.SubjectInput{Subject: "conversation/ward~eve", Why: "request"})
	refusedWith(t, err, refusal.NotFound, "has nothing that conversation/ward~eve names")
	if n := len(k.inFiles(t)); n == 0 {
		t.Fatal("the files have none of the words: this test proves nothing")
	}
	if e, err := k.admin.Erase(t.Context(), admin.SubjectInput{Subject: "conversation/ward~ann", Why: "request"}); err != nil || e.Streams != 1 {
		t.Errorf("one of them: %+v, %v", e, err)
	}
	if page, err := k.bob.SearchMemory(t.Context(), client.MemoryFilter{Conversation: "ward"}); err != nil || len(page.Items) != 1 || page.Items[0].Conversation != "ward~bob" {
		t.Errorf("the item of the other: %+v, %v", page, err)
	}
	if e, err := k.admin.Erase(t.Context(), admin.SubjectInput{Subject: "conversation/ward", Why: "request"}); err != nil || e.Streams != 3 {
		t.Errorf("all of them: %+v, %v", e, err)
	}
	k.check(t)
}
