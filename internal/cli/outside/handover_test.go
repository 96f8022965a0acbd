//go:build outside

package outside

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// budget is the most tokens that an agent's context may have.
const budget = 400

const file = "order,amount\n7,\"12.50\"\n"

// given is a task that a test has handed to an agent.
type given struct {
	client.Receipt
	lead   *client.Client
	digest string // of the file
}

// give hands a task with all that can go wrong on the way to a model: line breaks, quotation marks, characters that JSON or HTML escapes,
// and more than the budget has room for.
func give(t *testing.T, p *place, to string) given {
	t.Helper()
	lead, _ := p.agent(t, "lead")
	kept, err := lead.PutArtifact(t.Context(), strings.NewReader(file), "")
	if err != nil {
		t.Fatal(err)
	}
	rule, err := client.ParseConstraint("prohibition!:never <drop> a \"table\" & never push")
	if err != nil {
		t.Fatal(err)
	}
	content := client.Content{
		Ask: "Find the cause.\nSay \"why\", in one line.", Summary: "The import fails.\n\tAt line 2: `\"12.50\"`",
		Facts:     []client.Point{{ID: "cause", Text: "marker7f3a: the parser splits at <,> & never unquotes", Pinned: true}},
		Artifacts: []client.Artifact{{Digest: kept.Digest, Name: "orders.csv", MediaType: "text/csv"}},
	}
	for range 12 {
		content.Facts = append(content.Facts, client.Point{Text: strings.Repeat("The log of the day before says nothing of interest. ", 3)})
	}
	sent, err := lead.CreateTask(t.Context(), client.CreateInput{Intent: "Fix the import of orders", Constraints: []client.Constraint{rule}, Send: &client.SendInput{
		To: []string{to}, Content: content, Pack: client.Pack{Tokens: budget},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return given{Receipt: sent, lead: lead, digest: kept.Digest}
}

// done checks that the task was completed with a result.
func (g given) done(t *testing.T, p *place, result string) {
	t.Helper()
	got, err := p.admin.Task(t.Context(), g.Task)
	if err != nil {
		t.Fatal(err)
	}
	if got.State != client.Completed || got.Result == nil || got.Result.Text != result {
		t.Errorf("the task is %s, with the result %+v", got.State, got.Result)
	}
}

// wantPrompt checks that a text is the context of a handoff as the server renders it for its receiver, word for word.
func wantPrompt(t *testing.T, p *place, agent, handoff string, via client.Via, got string) {
	t.Helper()
	c, err := p.as("agents/" + agent + ".token")
	if err != nil {
		t.Fatal(err)
	}
	wantContext(t, c, handoff, via, "", got)
}

// wantContext takes the prefix of the tools that the reader's client sees.
func wantContext(t *testing.T, c *client.Client, handoff string, via client.Via, prefix, got string) {
	t.Helper()
	sheet, err := c.Content(t.Context(), handoff, client.ContentInput{Render: true, Via: via})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("\n# Artifacts (status ", "\n# Artifacts ("+prefix+"status ", "\n# Left out (status ", "\n# Left out ("+prefix+"status ").Replace(sheet.Prompt)
	if got != want {
		t.Errorf("the model was shown\n%q\nnot\n%q", got, want)
	}
	count, err := tokenizer.For("")
	if err != nil {
		t.Fatal(err)
	}
	if n := count.Count(got); n > budget {
		t.Errorf("the model was shown %d tokens, not at most %d", n, budget)
	}
	if !contains(got, "Find the cause.\n", "Say \"why\", in one line.", "never <drop> a \"table\" & never push", "splits at <,> & never") {
		t.Errorf("the model does not read what was written:\n%s", got)
	}
}

func TestAnAgentDoesATaskThatNeedsAnAnswerAcrossARestart(t *testing.T) {
	each(t, func(t *testing.T, c coder) {
		var p *place
		var g given
		say := func(tool string, args func() obj) func(shown) move {
			return func(shown) move { return move{tool: tool, args: args()} }
		}
		answer := func(shown) move { // people answer, and the server restarts
			list, err := p.admin.Tickets(t.Context(), client.TicketFilter{Task: g.Task})
			if err != nil || len(list.Tickets) != 1 {
				t.Errorf("tickets: %+v, %v", list, err)
				return move{say: "no ticket"}
			}
			if _, err := p.admin.Answer(t.Context(), list.Tickets[0].ID, client.AnswerInput{Answer: "the <first> & only one"}); err != nil {
				t.Error(err)
			}
			if err := p.stop(); err != nil {
				t.Error(err)
			}
			if err := p.start(); err != nil {
				t.Error(err)
			}
			return move{tool: "inbox", args: obj{"wait": 5}}
		}
		p, m := c.setUp(t, steps(
			say("join", func() obj { return obj{} }),
			say("progress", func() obj { return obj{"task": "task_0", "note": "a guess"} }),
			say("inbox", func() obj { return obj{"wait": 5} }),
			say("accept", func() obj { return obj{"handoff": g.Handoff} }),
			say("status", func() obj { return obj{"id": g.Task, "parts": []string{g.digest}} }),
			say("ask", func() obj { return obj{"task": g.Task, "question": "Which order?\nThe \"first\"?"} }),
			answer,
			say("progress", func() obj { return obj{"task": g.Task, "note": "found it"} }),
			say("complete", func() obj { return obj{"task": g.Task, "text": "the \"quotes\" & <commas>"} }),
		))
		g = give(t, p, c.name)
		if out := c.ask(t, p, "Work on what is in your inbox."); !strings.Contains(out, "done") {
			t.Errorf("printed: %q", out)
		}
		last := m.final(t)
		if len(last.results) != 9 {
			t.Fatalf("%d results: %q", len(last.results), last.results)
		}
		if n := strings.Count(last.raw, "marker7f3a"); n != 1 {
			t.Errorf("the model was shown the same context %d times", n)
		}
		if !strings.Contains(last.results[1], "is not a task id") {
			t.Errorf("the model was shown a refusal as %q", last.results[1])
		}
		if !strings.Contains(c.result(t, last.results[2]), g.Handoff) {
			t.Errorf("the inbox does not show the offer: %q", last.results[2])
		}
		wantPrompt(t, p, c.name, g.Handoff, client.ViaMCP, c.result(t, last.results[3]))
		if got := c.result(t, last.results[4]); !strings.Contains(got, "\n"+file) {
			t.Errorf("the model was shown the file as %q", got)
		}
		if !strings.Contains(last.results[6], "the <first> & only one") {
			t.Errorf("the model was shown the answer as %q", last.results[6])
		}
		g.done(t, p, "the \"quotes\" & <commas>")
	})
}
