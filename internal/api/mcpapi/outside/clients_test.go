//go:build outside

package outside

import (
	"encoding/json"
	"strings"
	"testing"
)

const statelessVersion = "2026-07-28"

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestTheTypeScriptClientHandsATaskOver(t *testing.T) {
	for _, version := range []string{"legacy", statelessVersion} {
		t.Run(version, func(t *testing.T) {
			h := serve(t)
			got := decode[struct {
				Tools                  int
				Context, State, Result string
			}](t, run(t, node(t, "typescript.mjs", version, h.url, h.token(t, "coder"), h.token(t, "reviewer"))))
			if got.Tools != 16 || got.State != "completed" || got.Result != "two bugs" || !strings.Contains(got.Context, "it is recursive") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestTheTypeScriptSDKHandsATaskOver(t *testing.T) {
	h := serve(t)
	got := decode[struct {
		Tools                                                    int
		Context, File, Question, Resumed, Refused, State, Result string
	}](t, run(t, node(t, "sdk.mjs", h.url, h.token(t, "coder"), h.token(t, "reviewer"))))
	if got.Tools != 16 || got.State != "completed" || got.Result != `two "bugs"` || got.Refused != "not_owner" {
		t.Errorf("%+v", got)
	}
	if got.Question != "decide: answer" || got.Resumed != "answered: the first" || !strings.Contains(got.File, "order,amount\n7,\"12.50\"\n") {
		t.Errorf("%+v", got)
	}
	for _, part := range []string{"Review the parser\nof \"orders\"\n", "never push to main", "it is recursive"} {
		if !strings.Contains(got.Context, part) {
			t.Errorf("the context has no %q:\n%s", part, got.Context)
		}
	}
}

// Every call is a process of its own, as in a shell script.
func TestTheInspectorHandsATaskOver(t *testing.T) {
	for _, version := range []string{"legacy", "modern"} {
		t.Run(version, func(t *testing.T) {
			h := serve(t)
			call := func(token, tool, arguments string) map[string]any {
				t.Helper()
				out := run(t, node(t, "mcp-inspector", "--cli", "--server-url", h.url, "--transport", "http", "--protocol-era", version, "--quiet",
					"--header", "Authorization: Bearer "+token, "--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments, "--format", "json"))
				answer := decode[struct {
					Result struct {
						IsError           bool
						StructuredContent map[string]any
					}
				}](t, out)
				if answer.Result.IsError || answer.Result.StructuredContent == nil && tool != "accept" { // its answer is to be read
					t.Fatalf("%s: %s", tool, out)
				}
				return answer.Result.StructuredContent
			}
			coder, reviewer := h.token(t, "coder"), h.token(t, "reviewer")
			call(coder, "join", `{}`)
			call(reviewer, "join", `{}`)
			sent := call(coder, "send", `{"intent":"Review the parser","to":["reviewer"]}`)
			items, _ := call(reviewer, "inbox", `{"wait":45}`)["items"].([]any)
			if len(items) != 1 {
				t.Fatalf("in the inbox: %v", items)
			}
			offer, _ := items[0].(map[string]any)
			call(reviewer, "accept", `{"handoff":"`+offer["id"].(string)+`"}`)
			call(reviewer, "complete", `{"task":"`+sent["task"].(string)+`","text":"two bugs"}`)
			task, _ := call(coder, "status", `{"id":"`+sent["task"].(string)+`"}`)["task"].(map[string]any)
			result, _ := task["result"].(map[string]any)
			if task["state"] != "completed" || result["text"] != "two bugs" {
				t.Errorf("%v", task)
			}
		})
	}
}

func TestAnAgentFrameworkDelegatesATask(t *testing.T) {
	h := serve(t)
	got := decode[struct{ Reviewer, Coder string }](t, run(t, node(t, "framework.mjs", h.url, h.token(t, "coder"), h.token(t, "reviewer"))))
	if !strings.Contains(got.Reviewer, "The task is complete.") || !strings.Contains(got.Coder, "two bugs") {
		t.Errorf("%+v", got)
	}
}

func TestTheRequesterOfTheTasksExtensionGetsWhatWasDelegated(t *testing.T) {
	h := serve(t)
	got := decode[struct{ Execution, Text, State string }](t, run(t, node(t, "tasks.mjs", h.url, h.token(t, "coder"), h.token(t, "reviewer"))))
	if got.Execution != "task" || got.State != "completed" || !strings.Contains(got.Text, "1 of 1 results have arrived") || !strings.Contains(got.Text, "two bugs") {
		t.Errorf("%+v", got)
	}
}
