//go:build slow

package mcpapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// TestTheWholeAnswerToAcceptIsWithinTheBudget previews and accepts random tasks, and counts everything that a client may show its model.
func TestTheWholeAnswerToAcceptIsWithinTheBudget(t *testing.T) {
	h := open(t)
	words := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"refund", " the", " charge", "\n", "\n\n", " ", "\t", "/", "- ", "# ", "`", "```", "12345", "é", "漢字", "🙂", "\u202e", "\u200d", "...\n",
	}), 1, 20), func(s []string) string { return strings.Join(s, "") + "." })
	points := rapid.Custom(func(t *rapid.T) []client.Point {
		var out []client.Point
		for i, text := range rapid.SliceOfN(words, 0, 25).Draw(t, "points") {
			out = append(out, client.Point{ID: fmt.Sprint("p", i), Text: text, Pinned: rapid.IntRange(0, 9).Draw(t, "pinned") == 0})
		}
		return out
	})
	for _, name := range []string{tokenizer.O200kBase, tokenizer.Cl100kBase, "other"} {
		reviewer := h.agent(statelessVersion, "reviewer-"+strings.ReplaceAll(name, "_", "-"))
		counter, err := tokenizer.For(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.admin.RegisterAgent(t.Context(), reviewer.name, client.AgentSpec{ContextWindow: 100_000, Tokenizer: name}); err != nil {
			t.Fatal(err)
		}
		reviewer.call("join", m{})
		rapid.Check(t, func(rt *rapid.T) {
			in := client.CreateInput{Intent: words.Draw(rt, "intent"), Content: client.Content{
				Ask: words.Draw(rt, "ask"), State: words.Draw(rt, "state"), Facts: points.Draw(rt, "facts"), Decisions: points.Draw(rt, "decisions"),
				Questions: rapid.SliceOfN(words, 0, 3).Draw(rt, "questions"), Notes: words.Draw(rt, "notes"),
			}}
			budget := rapid.IntRange(150, 1500).Draw(rt, "budget")
			in.Send = &client.SendInput{To: []string{reviewer.name}, Pack: client.Pack{Tokens: budget}}
			sent, err := h.admin.CreateTask(t.Context(), in)
			if errors.Is(err, client.Budget) {
				return
			}
			if err != nil {
				rt.Fatal(err)
			}
			for _, call := range []mcp.CallToolParams{{Name: "status", Arguments: m{"id": sent.Handoff, "preview": true}}, {Name: "accept", Arguments: m{"handoff": sent.Handoff}}} {
				r, err := reviewer.CallTool(t.Context(), &call)
				if err != nil || r.IsError {
					rt.Fatalf("%v %s", err, shown(t, r))
				}
				if text := shown(t, r); counter.Count(text) > budget || call.Name == "status" && !strings.HasPrefix(text, "# Preview of task") {
					rt.Fatalf("%s: %d tokens in a budget of %d:\n%s", call.Name, counter.Count(text), budget, text)
				}
			}
			if _, err := h.admin.Cancel(t.Context(), sent.Task, client.CancelInput{}); err != nil {
				rt.Fatal(err)
			}
		})
	}
}

func TestWhatIsToBeReadIsTextAlone(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer, auditor := h.agent(version, "coder"), h.agent(version, "reviewer"), h.agent(version, "reader")
		for _, a := range []*agent{reviewer, auditor} {
			a.call("join", m{})
		}
		_, sent := coder.call("send", m{"intent": "Review the parser\nand say \"what\" is wrong.", "to": "reviewer"})
		task, offer := sent["task"].(string), sent["handoff"].(string)
		first := reviewer.read("accept", m{"handoff": offer})
		again := reviewer.read("accept", m{"handoff": offer})
		lines := strings.Split(first, "\n")
		if head := strings.Join(lines[:min(4, len(lines))], "\n"); !strings.Contains(head, "`"+task+"`") || !strings.Contains(head, "handoff `"+offer[len(task)+1:]+"`") {
			t.Errorf("the ids are not in the first lines:\n%s", head)
		}
		if !strings.Contains(first, "say \"what\" is wrong.") || first != again {
			t.Errorf("the first time:\n%s\nthe second:\n%s", first, again)
		}
		_, share := reviewer.call("send", m{"task": task, "to": "reader", "share_only": true})
		_, box := auditor.call("inbox", m{"wait": 5})
		items, _ := box["items"].([]any)
		if len(items) != 1 {
			t.Fatalf("the inbox has %v after %v", box, share)
		}
		text := auditor.read("status", m{"id": items[0].(m)["id"]})
		if head, _, _ := strings.Cut(text, "\n"); !strings.Contains(text, "Review the parser") || !strings.Contains(head, "own") {
			t.Errorf("what is shared:\n%s", text)
		}
		if text := reviewer.read("status", m{"id": task, "history": true}); !strings.Contains(text, "handoff-complete") {
			t.Errorf("the history:\n%s", text)
		}
	})
}
