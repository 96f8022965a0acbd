package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// various is what differs between two answers that say the same.
var various = regexp.MustCompile(`task_[0-9a-z.]+|sha256:[0-9a-f]+|"(position|tokens)":[0-9]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z`)

// shapeOf is an answer about a conversation without what differs.
func shapeOf(body, name string) string {
	return strings.ReplaceAll(various.ReplaceAllString(body, "*"), name, "NAME")
}

// TestTheNameOfAConversationTellsAStrangerNothing does the same under a name that is taken and under one that is not.
func TestTheNameOfAConversationTellsAStrangerNothing(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, annToken := h.agent("ann")
	if r := h.call(annToken, "POST /v1/conversations/taken/turns", `{"role":"user","text":"the merger"}`); r.status != http.StatusCreated {
		t.Fatal(r)
	}
	_, spy := h.agent("spy")
	bob, heir := h.agent("bob")
	for _, step := range []struct{ token, line, body string }{
		{spy, "GET /v1/conversations/NAME", ""},
		{spy, "GET /v1/conversations/NAME/continuity", ""},
		{spy, "POST /v1/conversations/NAME/turns", `{"role":"user","text":""}`},
		{spy, "POST /v1/conversations/NAME/turns", `{"role":"user","text":"is it there?"}`},
		{spy, "POST /v1/conversations/NAME/turns", `{"role":"assistant","text":"it is not"}`},
		{spy, "GET /v1/conversations/NAME", ""},
		{spy, "GET /v1/conversations/NAME/continuity", ""},
		{spy, "GET /v1/conversations?agent=spy", ""},
		{spy, "POST /v1/tasks", `{"intent":"go on","start":true,"conversation":"NAME","send":{"to":["bob"]}}`},
		{heir, "GET /v1/conversations/NAME", ""},
		{spy, "GET /v1/conversations/NAME~ann", ""},
		{spy, "GET /v1/conversations/NAME~ann/continuity", ""},
		{spy, "POST /v1/conversations/NAME~ann/turns", `{"role":"user","text":"x"}`},
		{spy, "POST /v1/tasks", `{"intent":"go on","start":true,"conversation":"NAME~ann"}`},
		{spy, "POST /v1/memory", `{"text":"x","conversation":"NAME~ann"}`},
	} {
		answers := map[string]reply{}
		for _, name := range []string{"taken", "fresh"} {
			r := h.call(step.token, strings.ReplaceAll(step.line, "NAME", name), strings.ReplaceAll(step.body, "NAME", name))
			if strings.Contains(r.body, "merger") || strings.Contains(r.body, `"ann"`) {
				t.Errorf("%s tells of it: %s", step.line, r.body)
			}
			answers[name] = r
		}
		taken, fresh := answers["taken"], answers["fresh"]
		if strings.Contains(step.line, "agent=spy") { // one answer with both
			if strings.Count(taken.body, `"id":"taken~spy"`) != 1 || strings.Count(taken.body, `"id":"fresh~spy"`) != 1 || strings.Count(taken.body, `"id"`) != 2 {
				t.Errorf("a list: %s", taken.body)
			}
			continue
		}
		if taken.status != fresh.status || shapeOf(taken.body, "taken") != shapeOf(fresh.body, "fresh") {
			t.Errorf("%s %s:\n%d %s\n%d %s", step.line, step.body, taken.status, taken.body, fresh.status, fresh.body)
		}
	}

	box, err := bob.Inbox(t.Context(), client.InboxOptions{})
	if err != nil || len(box.Items) != 2 {
		t.Fatalf("%+v, %v", box.Items, err)
	}
	for _, item := range box.Items {
		if _, err := bob.Accept(t.Context(), item.ID, client.AcceptInput{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"taken", "fresh"} { // the receiver goes on with the spy's, by its id
		said, err := bob.AppendTurn(t.Context(), name+"~spy", client.TurnInput{Role: client.SpeakerAssistant, Text: "I go on"})
		if err != nil || said.Turn != 3 || said.Conversation != name+"~spy" {
			t.Errorf("%s: %+v, %v", name, said, err)
		}
	}
	if list, err := bob.Conversations(t.Context(), client.ConversationFilter{}); err != nil || len(list.Conversations) != 2 {
		t.Errorf("%+v, %v", list.Conversations, err)
	}
	if talk, err := ann.Conversation(t.Context(), "taken", client.ConversationOptions{}); err != nil || talk.Count != 1 {
		t.Errorf("the one that was there: %+v, %v", talk, err)
	}
	all, err := h.as(h.admin).Conversations(t.Context(), client.ConversationFilter{})
	if err != nil || len(all.Conversations) != 3 {
		t.Fatalf("%+v, %v", all.Conversations, err)
	}
	for _, c := range all.Conversations { // an operator tells them apart
		talk, err := h.as(h.admin).Conversation(t.Context(), c.ID, client.ConversationOptions{})
		if err != nil || talk.Count != c.Count || talk.ID != c.ID {
			t.Errorf("%s: %+v, %v", c.ID, talk, err)
		}
	}
	if r := h.call(spy, "GET /v1/conversations?limit=1&after=taken~spy", ""); !strings.Contains(r.body, `"conversations":[]`) {
		t.Errorf("the page after the oldest: %s", r.body)
	}
}

func TestConversationsAreFoundByWordsThatTheCallerMayRead(t *testing.T) {
	h := open(t, httpapi.Options{})
	ann, _ := h.agent("ann")
	bob, _ := h.agent("bob")
	admin := h.as(h.admin)
	say := func(c *client.Client, name, text string) {
		t.Helper()
		if _, err := c.AppendTurn(t.Context(), name, client.TurnInput{Role: client.SpeakerUser, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"The Merger is off", "no news", "the merger again", "merger, third", "merger, fourth"} {
		say(ann, "board", text)
	}
	say(ann, "merger-talk", "nothing here")
	say(bob, "lunch", "what about the MERGER sauce?")
	want := func(c *client.Client, f client.ConversationFilter, names ...string) client.ConversationPage {
		t.Helper()
		page, err := c.Conversations(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range page.Conversations {
			got = append(got, v.ID)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%+v finds %q, want %q", f, got, names)
		}
		return page
	}
	page := want(ann, client.ConversationFilter{Text: " merger "}, "merger-talk~ann", "board~ann")
	if turns := page.Conversations[1].Turns; len(turns) != 3 || turns[0].N != 3 || turns[2].Text != "merger, fourth" {
		t.Errorf("the turns with the word: %+v", turns)
	}
	want(bob, client.ConversationFilter{Text: "merger"}, "lunch~bob")
	want(admin, client.ConversationFilter{Text: "MERGER"}, "lunch~bob", "merger-talk~ann", "board~ann")
	want(admin, client.ConversationFilter{Text: "merger off again"}, "board~ann") // of different turns
	want(admin, client.ConversationFilter{Text: "ann merger"}, "merger-talk~ann", "board~ann")
	want(admin, client.ConversationFilter{Text: "merger xyzzy"})
	first := want(admin, client.ConversationFilter{Text: "merger", Limit: 1}, "lunch~bob")
	want(admin, client.ConversationFilter{Text: "merger", After: first.Next}, "merger-talk~ann", "board~ann")
	if page := want(admin, client.ConversationFilter{}, "lunch~bob", "merger-talk~ann", "board~ann"); len(page.Conversations[0].Turns) != 0 {
		t.Errorf("a list has turns: %+v", page.Conversations[0].Turns)
	}
	if reads := h.reads("ann"); !strings.Contains(reads, `"search of conversations"`) || !strings.Contains(reads, `"board~ann@3"`) {
		t.Errorf("the search is not recorded: %s", reads)
	}
}
