package httpapi_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

func TestAChannelIsMadeListedAndRemoved(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	h.agent("critic")
	for _, name := range []string{"reviews", "alarms"} {
		ch, err := planner.CreateChannel(ctx, client.ChannelInput{Name: name, Description: "what is new"})
		if err != nil || ch.Owner != "planner" || ch.Subscribers == nil || ch.Created.IsZero() || ch.Position == 0 {
			t.Fatalf("%+v, %v", ch, err)
		}
	}
	if _, err := writer.CreateChannel(ctx, client.ChannelInput{Name: "alarms"}); !errors.Is(err, client.Conflict) {
		t.Errorf("a name that is taken: %v", err)
	}
	if _, err := writer.Subscribe(ctx, "alarms", client.SubscriptionInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Subscribe(ctx, "alarms", client.SubscriptionInput{Agent: "critic"}); !errors.Is(err, client.NotPermitted) {
		t.Errorf("subscribing another agent: %v", err)
	}
	ch, err := h.as(h.admin).Subscribe(ctx, "alarms", client.SubscriptionInput{Agent: "critic"})
	if err != nil || !slices.Equal(ch.Subscribers, []string{"critic", "writer"}) {
		t.Fatalf("%+v, %v", ch, err)
	}
	first, err := planner.Channels(client.WithPosition(ctx, ch.Position), client.ChannelOptions{Limit: 1})
	if err != nil || len(first.Channels) != 1 || first.Next != "alarms" || len(first.Channels[0].Subscribers) != 2 || first.Position < ch.Position {
		t.Fatalf("%+v, %v", first, err)
	}
	rest, err := planner.Channels(ctx, client.ChannelOptions{After: first.Next})
	if err != nil || len(rest.Channels) != 1 || rest.Channels[0].Name != "reviews" || rest.Next != "" {
		t.Fatalf("%+v, %v", rest, err)
	}
	if ch, err = writer.Unsubscribe(ctx, "alarms", client.SubscriptionInput{}); err != nil || !slices.Equal(ch.Subscribers, []string{"critic"}) {
		t.Fatalf("%+v, %v", ch, err)
	}
	if ch, err = planner.DescribeChannel(ctx, "alarms", client.DescribeInput{Description: "what burns"}); err != nil || ch.Description != "what burns" {
		t.Fatalf("%+v, %v", ch, err)
	}
	if _, err := writer.RemoveChannel(ctx, "alarms"); !errors.Is(err, client.NotPermitted) {
		t.Errorf("removing another's channel: %v", err)
	}
	if _, err := planner.RemoveChannel(ctx, "alarms"); err != nil {
		t.Fatal(err)
	}
	if _, err := planner.Channel(ctx, "alarms"); !errors.Is(err, client.NotFound) {
		t.Errorf("a channel that was removed: %v", err)
	}
}

func TestWhatIsPublishedReachesWhoSubscribes(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	planner, _ := h.agent("planner")
	writer, _ := h.agent("writer")
	if _, err := planner.CreateChannel(ctx, client.ChannelInput{Name: "news"}); err != nil {
		t.Fatal(err)
	}
	in := client.CreateInput{Intent: "read this", Send: &client.SendInput{Channel: "news"}}
	if _, err := planner.CreateTask(ctx, in); !errors.Is(err, client.Conflict) {
		t.Errorf("nobody subscribes: %v", err)
	}
	if _, err := writer.Subscribe(ctx, "news", client.SubscriptionInput{}); err != nil {
		t.Fatal(err)
	}
	sent, err := planner.CreateTask(ctx, in)
	if err != nil || !slices.Equal(sent.To, []string{"writer"}) {
		t.Fatalf("%+v, %v", sent, err)
	}
	items, err := writer.WaitInbox(ctx, client.InboxOptions{Wait: 10 * time.Second})
	if err != nil || len(items) != 1 || items[0].ID != sent.Handoff || items[0].Channel != "news" || !items[0].Claim {
		t.Fatalf("%+v, %v", items, err)
	}
	if got, err := writer.Accept(ctx, items[0].ID, client.AcceptInput{}); err != nil || got.Owner != "writer" {
		t.Fatalf("%+v, %v", got, err)
	}
	shown, err := planner.Handoff(ctx, sent.Handoff)
	if err != nil || shown.Channel != "news" || shown.Kind != client.Broadcast {
		t.Fatalf("%+v, %v", shown, err)
	}
	mine, err := planner.CreateTask(ctx, client.CreateInput{Intent: "a copy for each", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	copies, err := planner.Send(ctx, mine.Task, client.SendInput{Epoch: mine.Epoch, Channel: "news", FanOut: true})
	if err != nil || copies.State != client.Waiting {
		t.Fatalf("%+v, %v", copies, err)
	}
	task, err := planner.Task(ctx, mine.Task)
	if err != nil || len(task.Children) != 1 || task.Children[0].To != "writer" {
		t.Fatalf("%+v, %v", task.Children, err)
	}
}
