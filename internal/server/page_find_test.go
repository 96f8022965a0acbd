package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// A task is found by the words of its content, by those who may read them.
func TestTasksAreFoundByWhatTheReaderMayReadOfThem(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob", "cyd", "dan")
	ctx := t.Context()
	item, err := agents["ann"].Remember(ctx, client.RememberInput{Text: "the account is narwhal", Scope: client.ScopeWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	warm, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Build a crane", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := agents["ann"].Send(ctx, warm.Task, client.SendInput{Epoch: 1, To: []string{"bob"}, Content: client.Content{
		Ask: "Lift the giraffe", Facts: []client.Point{{Text: "the parcel is purple"}}, Decisions: []client.Point{{Text: "wait for Xaver"}}, Memory: []client.MemoryAsk{{ID: item.ID}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := agents["bob"].Accept(ctx, sent.Handoff, client.AcceptInput{})
	must(t)(got, err)
	must(t)(agents["bob"].Progress(ctx, warm.Task, client.ProgressInput{Epoch: got.Epoch, Note: "halfway to Zagreb"}))
	must(t)(agents["bob"].Complete(ctx, warm.Task, client.CompleteInput{Epoch: got.Epoch, Result: client.Result{Text: "gloves delivered", Data: []byte(`{"carrier": "Yodel"}`)}}))
	cold, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Paint it", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Progress(ctx, cold.Task, client.ProgressInput{Epoch: 1, Note: "the otter was here"}))
	sent, err = agents["ann"].Send(ctx, cold.Task, client.SendInput{Epoch: 1, To: []string{"cyd"}, Kind: client.Cold, Content: client.Content{Ask: "Use quetzal green"}})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["cyd"].Accept(ctx, sent.Handoff, client.AcceptInput{}))
	readers := map[string]*client.Client{"admin": admin, "ann": agents["ann"], "bob": agents["bob"], "cyd": agents["cyd"], "dan": agents["dan"]}
	finds := func(words, want string, by ...string) {
		t.Helper()
		for name, c := range readers {
			list, err := c.Tasks(ctx, client.TaskFilter{Words: words})
			if found := err == nil && len(list.Tasks) == 1 && list.Tasks[0].ID == want && list.Next == ""; err != nil || found != slices.Contains(by, name) || !found && len(list.Tasks) > 0 {
				t.Errorf("%s looks for %q: %+v, %v", name, words, list.Tasks, err)
			}
		}
	}
	for _, words := range []string{"GIRAFFE", "purple crane", "xaver", "zagreb", "gloves", "yodel", "narwhal"} {
		finds(words, warm.Task, "admin", "ann", "bob")
	}
	finds("otter", cold.Task, "admin", "ann")
	finds("quetzal", cold.Task, "admin", "ann", "cyd")
	finds("purple otter", warm.Task)
	for _, path := range []string{"/find?q=giraffe", "/tasks?words=giraffe"} {
		if body := page.get(path, http.StatusOK); !strings.Contains(body, "Build a crane") || strings.Contains(body, "Paint it") {
			t.Errorf("%s: %s", path, body)
		}
	}
	must(t)(agents["ann"].Forget(ctx, item.ID))
	finds("narwhal", warm.Task)

	first, err := admin.Tasks(ctx, client.TaskFilter{Words: "it", Limit: 1}) // both: as a word, and a part of one
	if err != nil || len(first.Tasks) != 1 || first.Tasks[0].ID != cold.Task || first.Next != cold.Task {
		t.Errorf("%+v, %v", first, err)
	}
	second, err := admin.Tasks(ctx, client.TaskFilter{Words: "it", Limit: 1, After: first.Next})
	if err != nil || len(second.Tasks) != 1 || second.Tasks[0].ID != warm.Task || second.Next != "" {
		t.Errorf("%+v, %v", second, err)
	}
	if _, err := admin.Tasks(ctx, client.TaskFilter{Words: "it", Counts: true}); err == nil {
		t.Error("tasks are counted by words of their content")
	}
	var export strings.Builder
	if err := admin.Export(ctx, client.ExportOptions{}, &export); err != nil || !strings.Contains(export.String(), "list of tasks by words") {
		t.Errorf("that tasks were found is not recorded: %v", err)
	}
}
