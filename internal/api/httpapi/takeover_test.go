package httpapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// An agent whose takeover was granted owns the task, and there is nothing for it to accept; one that grants it twice has nothing to decide. Both read
// who owns the task, and what to do.
func TestATakeoverThatWasGrantedSaysWhoOwnsTheTask(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch}); err != nil {
		t.Fatal(err)
	}
	ask, err := ben.Takeover(ctx, made.Task, client.TakeoverInput{})
	if err != nil {
		t.Fatal(err)
	}
	granted, err := h.as(h.admin).Approve(ctx, ask.Takeover, client.ApproveInput{})
	if err != nil || granted.Owner != "ben" {
		t.Fatalf("%+v, %v", granted, err)
	}
	task, err := ben.Task(ctx, made.Task)
	if err != nil {
		t.Fatal(err)
	}
	says := func(what string, err error, words ...string) {
		t.Helper()
		var e *client.Error
		if !errors.As(err, &e) || e.Hint == "" || strings.Contains(e.Hint, "nothing to do") {
			t.Errorf("%s: %v", what, err)
			return
		}
		for _, w := range words {
			if !strings.Contains(e.Message+" "+e.Hint, w) {
				t.Errorf("%s: %v does not say %q", what, e, w)
			}
		}
	}
	_, err = ben.Accept(ctx, task.Handoff.ID, client.AcceptInput{})
	says("the new owner accepts", err, "ben owns task", "epoch 2", "fetch the context")
	_, err = ben.Takeover(ctx, made.Task, client.TakeoverInput{})
	says("the new owner asks again", err, "ben owns task", "epoch 2", "fetch the context")
	_, err = h.as(h.admin).Approve(ctx, ask.Takeover, client.ApproveInput{})
	says("it is granted again", err, "is over", "ben owns the task, under epoch 2")
	_, err = h.as(h.admin).Deny(ctx, ask.Takeover, client.DenyInput{})
	says("it is denied after that", err, "is over", "ben owns the task, under epoch 2")
	if s, err := ben.Content(ctx, task.Handoff.ID, client.ContentInput{Render: true}); err != nil || s.Prompt == "" {
		t.Errorf("the context: %v", err)
	}
}

func TestAnAgentCannotHaveTheNameOfAnAuthority(t *testing.T) {
	h := open(t, httpapi.Options{})
	admin := h.as(h.admin)
	for _, name := range []string{"operator", "admin", "adm1n", "server", "requester", "system", "trapeze", "person", "the-operator"} {
		_, err := admin.RegisterAgent(t.Context(), name, client.AgentSpec{})
		var e *client.Error
		if !errors.As(err, &e) || e.Code != client.Invalid || !strings.Contains(e.Message, "could be taken for") || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
