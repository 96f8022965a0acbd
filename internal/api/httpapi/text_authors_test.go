package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// What comes along from an earlier sender is not taken for the words of the one that hands over.
func TestAReceiverSeesWhoseTheTextsAre(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: client.Content{
		Ask: "fix the valve", State: "it leaks", Summary: "we talked", Data: json.RawMessage(`{"a":1}`), Questions: []string{"which valve?"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	epoch := made.Epoch
	hand := func(from, to *client.Client, name string, c client.Content) string {
		t.Helper()
		c.Facts, c.Decisions = []client.Point{{Text: "new to " + name}}, []client.Point{{Text: "give it to " + name}} // otherwise the task goes in circles
		sent, err := from.Send(ctx, made.Task, client.SendInput{Epoch: epoch, To: []string{name}, Content: c})
		if err != nil {
			t.Fatal(err)
		}
		got, err := to.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		epoch = got.Epoch
		return got.Content.Prompt
	}
	for _, c := range []struct {
		prompt    string
		has, lack []string
	}{
		{hand(ann, ben, "ben", client.Content{}), []string{"## Your part\n", "## Data\n", "# State\n- it leaks", "# Summary\n- we talked", "# Open questions\n- which valve?"}, []string{"by ann", "by `ann`"}},
		{
			hand(ben, cleo, "cleo", client.Content{State: "it is half shut"}),
			[]string{"## Your part, by `ann`\n", "## Data, by `ann`\n", "# State\n- it is half shut", "# Summary\n(by ann:)\n- we talked", "# Open questions\n(by ann:)\n- which valve?"},
			nil,
		},
		{
			hand(cleo, ann, "ann", client.Content{Ask: "shut it", Questions: []string{"why?"}}),
			[]string{"## Your part\n", "## Data, by `ann`\n", "# State\n(by ben:)\n- it is half shut", "# Summary\n(by ann:)\n- we talked", "# Open questions\n- why?"},
			nil,
		},
		// Its own words are the sender's again.
		{hand(ann, ben, "ben", client.Content{}), []string{"## Your part, by `cleo`\n", "## Data\n", "# State\n(by ben:)\n", "# Summary\n- we talked", "# Open questions\n(by cleo:)\n- why?"}, nil},
	} {
		for _, text := range c.has {
			if !strings.Contains(c.prompt, text) {
				t.Errorf("the prompt does not have %q:\n%s", text, c.prompt)
			}
		}
		for _, text := range c.lack {
			if strings.Contains(c.prompt, text) {
				t.Errorf("the prompt has %q:\n%s", text, c.prompt)
			}
		}
	}
}
