//go:build slow

package httpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TestWhatIsRecordedAfterAColdHandoffAndWasMadeBeforeIsNotForOwnersSince reads a share and ends children while and after the task goes to
// another owner cold: these entries have content from before it.
func TestWhatIsRecordedAfterAColdHandoffAndWasMadeBeforeIsNotForOwnersSince(t *testing.T) {
	h := open(t, httpapi.Options{})
	v := &visible{T: t, harness: h, by: map[string]*client.Client{}, files: map[string]string{}}
	for _, name := range []string{"req", "warm", "cold", "approver", "shared", "part", "other", "last"} {
		v.by[name], _ = h.agent(name)
	}
	v.task = v.must(v.by["req"].CreateTask(t.Context(), client.CreateInput{Intent: "Refund the order." + strings.Repeat(" It is late.", 60) + " INTENT"})).Task
	first := client.Content{Facts: []client.Point{{Text: "fact FACT1"}}}
	first.Artifacts = v.file("req", "FILE1")
	v.send("req", client.SendInput{To: []string{"warm"}, Content: first})
	v.accept("warm")
	v.progress("warm", "NOTE1")
	share := v.must(v.by["warm"].Share(t.Context(), v.task, client.ShareInput{Epoch: v.epoch, To: "shared", Content: client.Content{Summary: "summary SUMMARY1"}}))
	v.shares = append(v.shares, share.Share)
	v.send("warm", client.SendInput{To: []string{"part"}, Kind: client.Delegation, FanIn: client.FanIn{Mode: client.FanInNone}, Content: client.Content{Ask: "look ASK1"}})
	v.send("warm", client.SendInput{To: []string{"other"}, Kind: client.Delegation, FanIn: client.FanIn{Mode: client.FanInNone}})
	v.send("warm", client.SendInput{To: []string{"cold"}, Kind: client.Cold})
	v.endChild("other", "RESULT2")
	v.accept("cold")

	if _, err := v.by["shared"].Content(t.Context(), share.Share, client.ContentInput{Render: true}); err != nil {
		t.Fatal(err)
	}
	v.endChild("part", "RESULT1")
	v.progress("cold", "NOTE2")
	v.send("cold", client.SendInput{To: []string{"last"}, Kind: client.Supervised, Approver: "approver"})

	told(t, "after the cold handoff", v.look(), []marker{
		{"FACT1", "req warm shared"},
		{"FILE1", "req warm shared part other"},
		{"NOTE1", "req warm shared"},
		{"SUMMARY1", "req warm shared"},
		{"RESULT1", "req"},
		{"RESULT2", "req warm"},
		{"NOTE2", "req cold approver"},
	})
}

// endChild has an agent do the child task that is in its inbox, and tells the parent.
func (v *visible) endChild(by, word string) {
	v.Helper()
	ctx, c := v.Context(), v.by[by]
	box, err := c.Inbox(ctx, client.InboxOptions{})
	if err != nil || len(box.Items) != 1 {
		v.Fatalf("%+v, %v", box, err)
	}
	got, err := c.Accept(ctx, box.Items[0].ID, client.AcceptInput{})
	if err != nil {
		v.Fatal(err)
	}
	r, err := c.Complete(ctx, got.Task, client.CompleteInput{Epoch: got.Epoch, Result: client.Result{Text: "done " + word}})
	if err != nil {
		v.Fatal(err)
	}
	err = v.app.FollowUp.TellEnd(ctx, identity.DefaultWorkspace, got.Task, ledger.Entry{Position: ledger.Position(r.Position), Stream: taskstore.StreamOf(identity.DefaultWorkspace, got.Task)}, event.Finished{})
	if err != nil {
		v.Fatal(err)
	}
}
