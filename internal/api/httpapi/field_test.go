package httpapi_test

import (
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// TestARefusalNamesTheFieldOfItsRequest: what has the same form is named as each request has it.
func TestARefusalNamesTheFieldOfItsRequest(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	const bad = "no name"
	for name, c := range map[string]struct {
		field string
		call  func() error
	}{
		"a conversation of a task": {"conversation", func() error {
			_, err := ann.CreateTask(ctx, client.CreateInput{Intent: "work", Conversation: bad})
			return err
		}},
		"a conversation in the path": {"id", func() error { _, err := ann.Conversation(ctx, bad, client.ConversationOptions{}); return err }},
		"a page of conversations":    {"after", func() error { _, err := ann.Conversations(ctx, client.ConversationFilter{After: bad}); return err }},
		"a channel that a task is to": {"channel", func() error {
			_, err := ann.CreateTask(ctx, client.CreateInput{Intent: "work", Send: &client.SendInput{Channel: bad}})
			return err
		}},
		"a channel in the path": {"id", func() error { _, err := ann.Channel(ctx, bad); return err }},
		"a page of channels":    {"after", func() error { _, err := ann.Channels(ctx, client.ChannelOptions{After: bad}); return err }},
	} {
		e, is := errors.AsType[*client.Error](c.call())
		if !is || e.Code != client.Invalid || e.Details["field"] != c.field && e.Details["field"] != "send."+c.field {
			t.Errorf("%s: %+v, want the field %s", name, e, c.field)
		}
	}
}
