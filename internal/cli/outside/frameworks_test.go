//go:build outside

package outside

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// python is the interpreter that a framework is installed for: those that need the second major version of the MCP SDK have one of their own.
func python(t *testing.T, framework string) string {
	t.Helper()
	if framework == "Agent Framework" || framework == "Pydantic AI" {
		return interpreter(t, "venv_mcp2")
	}
	return interpreter(t, "venv")
}

// interpreter is the one of an environment in testdata.
func interpreter(t *testing.T, venv string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", venv, "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("no framework is installed: run .ci/run outside")
	}
	return path
}

// outage is how long no server answers while a program calls it.
const outage = 3 * time.Second

// outlived is what the model is shown of such a call: in the frameworks that repeat it, the answer; in others what they make of the failure.
var outlived = map[string]string{"LangGraph": answered, "OpenAI Agents": answered, "Pydantic AI": answered, "Agent Framework": answered}

const answered = "the <first> & only one"

// The programs of docs/frameworks.md wait longer than the usual timeouts, survive a refusal, and do a task that needs an answer of people, across
// a restart of the server under a call.
func TestTheProgramsForFrameworks(t *testing.T) {
	for _, framework := range []string{"LangGraph", "OpenAI Agents", "Pydantic AI", "ADK", "Agent Framework"} {
		t.Run(framework, func(t *testing.T) {
			p := newPlace(t)
			me, token := p.agent(t, "coder")
			var g given
			back := make(chan struct{})
			m := newModel(t, steps(
				func(shown) move { return move{tool: "inbox", args: obj{"wait": 6}} },
				func(shown) move { return move{tool: "progress", args: obj{"task": "task_0", "note": "a guess"}} },
				func(shown) move {
					g = give(t, p, "coder")
					return move{tool: "inbox", args: obj{"wait": 45}}
				},
				func(shown) move { return move{tool: "accept", args: obj{"handoff": g.Handoff}} },
				func(shown) move {
					return move{tool: "status", args: obj{"id": g.Task, "parts": []string{g.digest}}}
				},
				func(shown) move { return move{tool: "ask", args: obj{"task": g.Task, "question": "Which order?"}} },
				func(shown) move {
					list, err := p.admin.Tickets(t.Context(), client.TicketFilter{Task: g.Task})
					if err != nil || len(list.Tickets) != 1 {
						t.Errorf("tickets: %+v, %v", list, err)
						return move{say: "no ticket"}
					}
					if _, err := p.admin.Answer(t.Context(), list.Tickets[0].ID, client.AnswerInput{Answer: answered}); err != nil {
						t.Error(err)
					}
					if err := p.stop(); err != nil {
						t.Error(err)
					}
					later := time.AfterFunc(outage, func() {
						defer close(back)
						if err := p.start(); err != nil {
							t.Error(err)
						}
					})
					t.Cleanup(func() {
						if !later.Stop() {
							<-back
						}
					})
					return move{tool: "inbox", args: obj{"wait": 1}} // no server answers
				},
				func(shown) move {
					<-back
					return move{tool: "inbox", args: obj{"wait": 45}}
				},
				func(shown) move {
					return move{tool: "complete", args: obj{"task": g.Task, "text": "the \"quotes\" & <commas>"}}
				},
			))
			p.write(t, "project/program.py", blockOf(t, "frameworks.md", "## "+framework, "python"))
			p.env = append(
				p.env, "TRAPEZE_TOKEN="+token, "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+m.url+"/v1", "OPENAI_AGENTS_DISABLE_TRACING=1",
				"GOOGLE_API_KEY=none", "GOOGLE_GEMINI_BASE_URL="+m.url, "PYTHONDONTWRITEBYTECODE=1",
			)
			if out := p.run(t, python(t, framework), "program.py"); !strings.Contains(out, "done") {
				t.Errorf("printed: %q", out)
			}
			last := m.final(t)
			if len(last.results) != 9 || len(last.tools) != 7 {
				t.Fatalf("%d tools, %d results: %q", len(last.tools), len(last.results), last.results)
			}
			for i, want := range []string{"inbox is empty", "is not a task id", g.Handoff, "", "\n" + file, ".k1", outlived[framework], answered, "completed"} {
				if !strings.Contains(last.results[i], want) {
					t.Errorf("result %d has no %q: %q", i+1, want, last.results[i])
				}
			}
			wantContext(t, me, g.Handoff, client.ViaMCP, "trapeze_", last.results[3])
			if n := strings.Count(last.raw, "marker7f3a"); n != 1 {
				t.Errorf("the model was shown the same context %d times", n)
			}
			g.done(t, p, "the \"quotes\" & <commas>")
		})
	}
}
