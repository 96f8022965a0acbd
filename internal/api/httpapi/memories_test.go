package httpapi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

func TestWhatOneAgentRemembersAnotherFinds(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	scout, _ := h.agent("scout")
	coder, _ := h.agent("coder")
	mine, err := scout.Remember(ctx, client.RememberInput{Text: "the password is swordfish"})
	if err != nil || mine.Scope != client.ScopePrivate || mine.Text != "" || mine.Author != "scout" || mine.Position == 0 {
		t.Fatalf("%+v, %v", mine, err)
	}
	x, err := scout.Remember(ctx, client.RememberInput{
		Title: "Login", Text: "The cookie of the login expires too early.", Scope: client.ScopeWorkspace, Tags: []string{"auth"}, Importance: 0.5,
		Source: client.MemorySource{Agent: "coder"},
	})
	if err != nil {
		t.Fatal(err)
	}
	at := client.WithPosition(ctx, x.Position)
	found, err := coder.SearchMemory(at, client.MemoryFilter{Query: "Why do cookies expire?"})
	if err != nil || len(found.Items) != 1 || found.Items[0].ID != x.ID || !strings.HasPrefix(found.Items[0].Excerpt, "The cookie") || found.Position < x.Position {
		t.Fatalf("%+v, %v", found, err)
	}
	for name, f := range map[string]client.MemoryFilter{
		"tag": {Tag: "auth"}, "author": {Agent: "scout"}, "scope": {Scope: client.ScopeWorkspace}, "since": {Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)},
		"all of it": {Query: "login", Tag: "auth", Agent: "agent/scout", Limit: 1},
	} {
		if p, err := coder.SearchMemory(ctx, f); err != nil || len(p.Items) != 1 {
			t.Errorf("by %s: %+v, %v", name, p, err)
		}
	}
	for name, f := range map[string]client.MemoryFilter{
		"query": {Query: "swordfish"}, "scope": {Scope: client.ScopePrivate}, "until": {Until: time.Now().Add(-time.Hour)}, "pinned": {Pinned: true},
		"conversation": {Conversation: "c"}, "page": {Limit: 1, After: 1},
	} {
		if p, err := coder.SearchMemory(ctx, f); err != nil || len(p.Items) != 0 {
			t.Errorf("by %s: %+v, %v", name, p, err)
		}
	}
	if _, err := coder.Memory(ctx, mine.ID, client.MemoryReference{}); !errors.Is(err, client.NotFound) {
		t.Errorf("another's own item: %v", err)
	}
	got, err := coder.Memory(ctx, x.ID, client.MemoryReference{Version: x.Version, Digest: x.Digest})
	if err != nil || got.Text != "The cookie of the login expires too early." || got.Status != client.MemoryCurrent || got.Source.Agent != "coder" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := coder.Revise(ctx, x.ID, client.ReviseInput{Text: "mine"}); !errors.Is(err, client.NotPermitted) {
		t.Errorf("revised by another: %v", err)
	}
}

func TestAMemoryItemIsChangedByItsAuthor(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	scout, _ := h.agent("scout")
	x, err := scout.Remember(ctx, client.RememberInput{Text: "one", Scope: client.ScopeWorkspace, Tags: []string{"old"}})
	if err != nil {
		t.Fatal(err)
	}
	two, err := scout.Revise(ctx, x.ID, client.ReviseInput{Text: "two", Title: "T", Expect: 1})
	if err != nil || two.Version != 2 || two.Title != "T" {
		t.Fatalf("%+v, %v", two, err)
	}
	if _, err := scout.Revise(ctx, x.ID, client.ReviseInput{Text: "three", Expect: 1}); !errors.Is(err, client.Conflict) {
		t.Errorf("over a newer version: %v", err)
	}
	for name, change := range map[string]func() (client.MemoryItem, error){
		"pin": func() (client.MemoryItem, error) { return scout.Pin(ctx, x.ID) },
		"tag": func() (client.MemoryItem, error) {
			return scout.Tag(ctx, x.ID, client.TagInput{Tags: []string{"b", "a"}})
		},
		"weigh": func() (client.MemoryItem, error) { return scout.Weigh(ctx, x.ID, client.WeighInput{Importance: 0.7}) },
	} {
		if _, err := change(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := scout.Memory(ctx, x.ID, client.MemoryReference{})
	if err != nil || got.Pinned || !got.Proposed || got.PinnedBy != "scout" || !slices.Equal(got.Tags, []string{"a", "b"}) || got.Importance != 0.7 || got.Versions != 2 || got.Text != "two" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := scout.Unpin(ctx, x.ID); err != nil || got.Pinned || got.Proposed || got.PinnedBy != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := scout.Tag(ctx, x.ID, client.TagInput{}); err != nil || got.Tags != nil {
		t.Errorf("%+v, %v", got, err)
	}
	vs, err := scout.MemoryVersions(ctx, x.ID, 0, 1)
	if err != nil || vs.Count != 2 || len(vs.Versions) != 1 || vs.Versions[0].Text != "one" || vs.Versions[0].Digest != x.Digest {
		t.Errorf("%+v, %v", vs, err)
	}
	gone, err := scout.Forget(ctx, x.ID)
	if err != nil || gone.Status != client.MemoryForgotten || gone.Forgotten.IsZero() || gone.Title != "" {
		t.Errorf("%+v, %v", gone, err)
	}
	if got, err := scout.Memory(ctx, x.ID, client.MemoryReference{Version: 1, Digest: x.Digest}); err != nil || got.Status != client.MemoryForgotten || got.Text != "" {
		t.Errorf("%+v, %v", got, err)
	}
	page, err := h.as(h.admin).SearchMemory(client.WithPosition(ctx, gone.Position), client.MemoryFilter{Query: "one two T"})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestAConversationIsToldReadAndCondensed(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	scout, _ := h.agent("scout")
	coder, _ := h.agent("coder")
	made, err := scout.CreateTask(ctx, client.CreateInput{Intent: "fix the login", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	for n, in := range []client.TurnInput{
		{Role: client.SpeakerUser, Text: "Please fix the login.", Task: made.Task},
		{Role: client.SpeakerAssistant, Text: "The cookie expires."},
	} {
		said, err := scout.AppendTurn(ctx, "login", in)
		if err != nil || said.Turn != n+1 || said.Conversation != "login~scout" {
			t.Fatalf("%+v, %v", said, err)
		}
	}
	if _, err := coder.Conversation(ctx, "login~scout", client.ConversationOptions{}); !errors.Is(err, client.NotFound) {
		t.Errorf("who has no part: %v", err)
	}
	sent, err := scout.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"coder"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coder.Accept(ctx, sent.Handoff, client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := coder.AppendTurn(ctx, "login~scout", client.TurnInput{Role: client.SpeakerAssistant, Text: "On it.", Handoff: sent.Handoff}); err != nil {
		t.Fatal(err)
	}
	got, err := coder.Conversation(ctx, "login~scout", client.ConversationOptions{Limit: 2})
	if err != nil || got.Count != 3 || len(got.Turns) != 2 || got.Turns[1].Agent != "coder" || got.Turns[1].By != "coder" || got.Turns[1].Handoff != sent.Handoff ||
		!slices.Equal(got.Speakers, []client.Speaker{{Agent: "scout", Turns: 2}, {Agent: "coder", Turns: 1}}) {
		t.Fatalf("%+v, %v", got, err)
	}
	if got, err = coder.Conversation(ctx, "login~scout", client.ConversationOptions{Before: 2}); err != nil || len(got.Turns) != 1 || got.Turns[0].Role != client.SpeakerUser {
		t.Fatalf("%+v, %v", got, err)
	}
	text, err := coder.Continuity(ctx, "login~scout", 0)
	if err != nil || !strings.Contains(text.Text, "scout -> coder") || !strings.Contains(text.Text, "fix the login") {
		t.Errorf("%+v, %v", text, err)
	}
	page, err := coder.Conversations(client.WithPosition(ctx, text.Position), client.ConversationFilter{Agent: "scout", Task: made.Task, Limit: 1})
	if err != nil || len(page.Conversations) != 1 || page.Next != "login~scout" || page.Conversations[0].Turns != nil {
		t.Errorf("%+v, %v", page, err)
	}
	if page, err = coder.Conversations(ctx, client.ConversationFilter{After: "login"}); err != nil || len(page.Conversations) != 0 || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
}
