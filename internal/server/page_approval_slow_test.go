//go:build slow

package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// Who approves a handoff reads what its receiver reads then: packed for it, with the constraints that bind the task now, also if they are added while it waits.
func TestAnApproverReadsWhatTheReceiverWill(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob", "tiny", "pay1", "pay2")
	ctx := t.Context()
	must(t)(admin.RegisterAgent(ctx, "tiny", client.AgentSpec{ContextWindow: 500}))
	for _, name := range []string{"pay1", "pay2"} {
		must(t)(admin.RegisterAgent(ctx, name, client.AgentSpec{Capabilities: []string{"pay"}}))
	}
	for name, of := range map[string]struct {
		send client.SendInput
		add  bool
		left bool
	}{
		"as it was sent":                    {send: client.SendInput{To: []string{"bob"}}},
		"with a budget of the sender":       {send: client.SendInput{To: []string{"bob"}, Pack: client.Pack{Tokens: 250}}, left: true},
		"to a receiver with a small window": {send: client.SendInput{To: []string{"tiny"}}, left: true},
		"with a constraint added":           {send: client.SendInput{To: []string{"bob"}}, add: true},
		"with all of it":                    {send: client.SendInput{To: []string{"tiny"}}, add: true, left: true},
		"for a capability of several":       {send: client.SendInput{Capability: "pay"}, add: true},
	} {
		t.Run(name, func(t *testing.T) {
			of.send.Kind, of.send.Content = client.Supervised, client.Content{Ask: "Pay", Facts: []client.Point{{Text: "fact one"}, {Text: strings.Repeat("fact two ", 200)}}}
			r, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Pay it back", Send: &of.send})
			if err != nil {
				t.Fatal(err)
			}
			ticket := "/tickets/" + r.Task + ".k1"
			if got := page.do(http.MethodGet, ticket, "", "Trapeze-As", "default/operator/olga"); got.status != http.StatusConflict || strings.Contains(got.body, "fact one") {
				t.Errorf("a part of another's page: %d %s", got.status, got.body)
			}
			before := fieldsOf(t, page.get(ticket, http.StatusOK), ticket+"/approve")
			if of.add {
				must(t)(admin.Constrain(ctx, r.Task, client.ConstrainInput{Constraint: client.Constraint{ID: "receipt", Kind: "prohibition", Text: "no receipt, no refund"}}))
				if got := page.do(http.MethodPost, ticket+"/approve", before.Encode()); got.status != http.StatusConflict {
					t.Errorf("an approval of what was shown before: %d %s", got.status, got.body)
				}
			}
			read, err := admin.Content(ctx, r.Handoff, client.ContentInput{Render: true})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(read.Envelope), `"salt":"`+strings.Repeat("0", 32)+`"`) {
				t.Error("the salt of what is not sealed yet is known to all")
			}
			body := page.get(ticket, http.StatusOK)
			prompt := strings.Join(texts(body, `<pre class="prompt"`, "</pre>"), "")
			if says := strings.Contains(body, "not known yet"); says != read.Undecided || says != (of.send.Capability != "") || read.For == "" != says {
				t.Errorf("page: not known %t; %q, %t", says, read.For, read.Undecided)
			}
			if nothing := strings.Contains(body, "Nothing."); nothing == of.left {
				t.Errorf("the page says that nothing was left out: %t", nothing)
			}
			if of.add != strings.Contains(prompt, "no receipt, no refund") || of.left == strings.Contains(prompt, "fact two fact two") {
				t.Error(prompt)
			}
			page.post(ticket+"/approve", fieldsOf(t, body, ticket+"/approve").Encode(), "Approved.")
			doc, err := admin.Handoff(ctx, r.Handoff)
			if err != nil {
				t.Fatal(err)
			}
			got, err := agents[doc.To[0]].Accept(ctx, r.Handoff, client.AcceptInput{Render: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, names := range []string{"to `pay2`, `pay1`; ", "to `pay1`, `pay2`; "} { // which the one who receives it is not told
				read.Prompt, prompt = strings.Replace(read.Prompt, names, "", 1), strings.Replace(prompt, names, "", 1)
			}
			if has := strings.Join(strings.Fields(got.Content.Prompt), " "); has != strings.Join(strings.Fields(read.Prompt), " ") || has != prompt {
				t.Errorf("%s was given\n%s\nand its approver\n%s\non the page\n%s", doc.To[0], got.Content.Prompt, read.Prompt, prompt)
			}
		})
	}
}
