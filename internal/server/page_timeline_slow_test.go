//go:build slow

package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// A part that was delegated stands where its own task does, and each agent has one colour, however often it held the task.
func TestAStoryShowsItsPartsAsTheyAreNow(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob", "dan", "eve")
	ctx := t.Context()
	made, err := admin.CreateTask(ctx, client.CreateInput{Intent: "Write the report", Send: &client.SendInput{To: []string{"ann"}}})
	must(t)(made, err)
	for _, to := range []string{"ann", "bob", "ann"} {
		task, err := admin.Task(ctx, made.Task)
		must(t)(task, err)
		if task.Owner != "" {
			must(t)(agents[task.Owner].Progress(ctx, made.Task, client.ProgressInput{Epoch: task.Epoch, Note: "a page more"}))
			must(t)(agents[task.Owner].Send(ctx, made.Task, client.SendInput{Epoch: task.Epoch, To: []string{to}}))
			task, err = admin.Task(ctx, made.Task)
			must(t)(task, err)
		}
		must(t)(agents[to].Accept(ctx, task.Handoff.ID, client.AcceptInput{}))
	}
	body := page.get("/tasks/"+made.Task, http.StatusOK)
	if n := strings.Count(body, `class="swatch c0"></span>ann`); n != 3 { // twice in the table, once below the picture
		t.Errorf("ann is %d times among the colours:\n%s", n, body)
	}
	shown(t, "what reached the receivers of nothing", body, `<h2 id="drift">`, "No handoff had facts, decisions, constraints or references to keep.", `<h2 id="trail">`)
	if strings.Contains(body, `class="drift"`) {
		t.Error("an empty picture is shown")
	}
	must(t)(agents["ann"].Send(ctx, made.Task, client.SendInput{Epoch: 3, To: []string{"dan", "eve"}, Kind: client.Broadcast, FanOut: true, FanIn: client.FanIn{Mode: client.FanInAll}}))
	if _, err := s.Advance(ctx, time.Second); err != nil { // the children are made
		t.Fatal(err)
	}
	box, err := agents["dan"].Inbox(ctx, client.InboxOptions{})
	must(t)(box, err)
	must(t)(agents["dan"].Accept(ctx, box.Items[0].ID, client.AcceptInput{}))
	body = page.get("/tasks/"+made.Task, http.StatusOK)
	shown(t, "the parts", body, `<h2 id="hops">`, `<td data-is="To">dan</td>`, `<span class="state executing">executing</span>`, `<td data-is="To">eve</td>`, `<span class="state handing_off">handing off</span>`, `<h2 id="children">`)
	shown(t, "the timeline", body, "children spawned", "to dan, eve · ")
	taken, err := admin.Task(ctx, box.Items[0].Task)
	must(t)(taken, err)
	must(t)(agents["dan"].Complete(ctx, taken.ID, client.CompleteInput{Epoch: taken.Epoch}))
	if _, err := s.Advance(ctx, time.Second); err != nil { // the result is with the parent
		t.Fatal(err)
	}
	shown(t, "the timeline", page.get("/tasks/"+made.Task, http.StatusOK), "child ended", "agent dan · state completed")
}
