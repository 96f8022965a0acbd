package httpapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// An owner that leaves many open questions cannot make its task too large for the agents that come after it.
func TestOpenQuestionsDoNotMakeATaskTooLargeForTheNextOwner(t *testing.T) {
	h := open(t, httpapi.Options{})
	planner, _ := h.agent("planner")
	flooder, _ := h.agent("flooder")
	small, _ := h.agent("small")
	ctx := t.Context()
	if _, err := h.as(h.admin).RegisterAgent(ctx, "small", client.AgentSpec{ContextWindow: 4800}); err != nil {
		t.Fatal(err)
	}
	sent, err := planner.CreateTask(ctx, client.CreateInput{Intent: "Write the report", Send: &client.SendInput{To: []string{"flooder"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := flooder.Accept(ctx, sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	questions := func(bytes int) (list []string) {
		for n := 0; bytes > 0; n++ {
			text := fmt.Sprintf("%03d %s", n, strings.Repeat("why? ", 7))
			list = append(list, text[:min(len(text), bytes)])
			bytes -= len(list[n])
		}
		return list
	}
	in := client.SendInput{To: []string{"small"}, Epoch: got.Epoch, Content: client.Content{Questions: questions(4001)}}
	var refused *client.Error
	if _, err := flooder.Send(ctx, sent.Task, in); !errors.As(err, &refused) || refused.Code != client.TooLarge || !strings.Contains(refused.Message, "4001 bytes") ||
		!strings.Contains(refused.Hint, "4000 bytes") || refused.Details["field"] != "open_questions" {
		t.Errorf("with 4,001 bytes: %+v", err)
	}
	in.Content.Questions = questions(4000)
	handed, err := flooder.Send(ctx, sent.Task, in)
	if err != nil {
		t.Fatal(err)
	}
	read, err := small.Accept(ctx, handed.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range in.Content.Questions {
		if !strings.Contains(read.Content.Prompt, strings.TrimSpace(q)) {
			t.Errorf("the receiver does not read %q", q)
		}
	}
}
