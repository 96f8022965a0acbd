//go:build slow

package httpapi_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// What was given before a workspace was archived can be read for the first time after it, also where the read has to be noted in the task.
func TestInAnArchivedWorkspaceASharedAndAnOfferedEnvelopeAreRead(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	owner := admin.New(h.as(h.admin))
	made, err := owner.CreateWorkspace(ctx, admin.WorkspaceInput{Name: "red", Bearer: "boss"})
	if err != nil {
		t.Fatal(err)
	}
	boss := h.as(made.Token.Text)
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "ben"} {
		if _, err := boss.RegisterAgent(ctx, name, client.AgentSpec{ContextWindow: 4000}); err != nil {
			t.Fatal(err)
		}
		token, err := boss.CreateToken(ctx, client.TokenInput{Role: client.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		agents[name] = h.as(token.Text)
	}
	task, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "keep the books", Start: true, Content: client.Content{State: strings.Repeat("all is well. ", 2000)}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = agents["ann"].Share(ctx, task.Task, client.ShareInput{Epoch: task.Epoch, To: "ben"})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := agents["ann"].Send(ctx, task.Task, client.SendInput{Epoch: task.Epoch, To: []string{"ben"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.ArchiveWorkspace(ctx, "red", admin.ArchiveInput{Why: "it is over"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{task.Task + ".s1", sent.Handoff} {
		if got, err := agents["ben"].Content(ctx, id, client.ContentInput{Render: true}); err != nil || !strings.Contains(got.Prompt, "keep the books") {
			t.Errorf("%s: %v\n%.200s", id, err, got.Prompt)
		}
	}
	if _, err := agents["ben"].Accept(ctx, sent.Handoff, client.AcceptInput{}); err == nil || !strings.Contains(err.Error(), "archived") {
		t.Errorf("an offer there is accepted: %v", err)
	}
}
