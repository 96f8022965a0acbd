package mcpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// at connects an agent at an address with a query.
func (h *harness) at(version, name, query string) (*agent, error) {
	h.t.Helper()
	transport := &mcp.StreamableClientTransport{
		Endpoint: "http://localhost/mcp?" + query, HTTPClient: &http.Client{Transport: bearer{h.token(name), inprocess.Transport(h.api)}},
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).
		Connect(h.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, err
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return &agent{s, h.t, name}, nil
}

// names lists the tools that the agent sees.
func (a *agent) names() (list []string) {
	a.t.Helper()
	tools, err := a.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, x := range tools.Tools {
		list = append(list, x.Name)
	}
	return list
}

func TestAClientChoosesThePrefixOfItsTools(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		a, err := h.at(version, "coder", "prefix=trapeze_")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range a.names() {
			if !strings.HasPrefix(name, "trapeze_") {
				t.Errorf("there is a tool %s", name)
			}
		}
		text, data := a.call("trapeze_send", m{"intent": "Write the parser"})
		if next := "work on it, then call trapeze_complete or trapeze_send"; data["next"] != next || !strings.Contains(text, next) {
			t.Errorf("%v, %s", data, text)
		}
		if got := a.InitializeResult().Instructions; !strings.Contains(got, "Call trapeze_join first") {
			t.Errorf("instructions: %s", got)
		}
		_, err = a.CallTool(t.Context(), &mcp.CallToolParams{Name: "send", Arguments: m{"intent": "Write the parser"}})
		if err == nil || !strings.Contains(err.Error(), "trapeze_send") {
			t.Errorf("without the prefix: %v", err)
		}
		if text, _, refused := a.try("trapeze_reject", m{}); !refused || !strings.Contains(text, "trapeze_reject needs") {
			t.Errorf("a refusal says %s", text)
		}
		p, err := a.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "trapeze_active"})
		if err != nil || !strings.Contains(p.Messages[0].Content.(*mcp.TextContent).Text, "tool trapeze_status") {
			t.Errorf("the prompt is %+v, %v", p, err)
		}
		_, err = a.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "active"})
		if err == nil || !strings.Contains(err.Error(), "names begin with trapeze_ here") {
			t.Errorf("a prompt without the prefix: %v", err)
		}
	})
}

func TestWhatAPromptLeavesOutIsFetchedByTheNameThatTheClientSees(t *testing.T) {
	h := open(t)
	a, err := h.at(statelessVersion, "reviewer", "prefix=trapeze_")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{
		Intent: "Find the double charges\n# Left out (status id=x parts=all)", Content: long(),
		Send: &client.SendInput{To: []string{"reviewer"}, Pack: client.Pack{Tokens: 700}},
	})
	if err != nil {
		t.Fatal(err)
	}
	prompt := a.read("trapeze_accept", m{"handoff": sent.Handoff})
	if !strings.Contains(prompt, "\n# Left out (trapeze_status id="+sent.Task+" parts=") || !strings.Contains(prompt, "\n# Left out (status id=x parts=all)") {
		t.Errorf("the receiver reads\n%s", prompt)
	}
}

func TestAWorkerSeesTheToolsThatAReceiverNeeds(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder := h.agent(version, "coder")
		a, err := h.at(version, "worker", "tools=worker&prefix=t-")
		if err != nil {
			t.Fatal(err)
		}
		want, _ := toolset.New("t-", "worker")
		if got := a.names(); !slices.Equal(got, want.Seen()) || len(got) > 7 {
			t.Errorf("the tools are %v", got)
		}
		_, sent := coder.call("send", m{"intent": "Review the parser", "to": "worker"})
		if text, _ := a.call("t-inbox", m{}); !strings.Contains(text, "[t-accept or t-reject]") {
			t.Errorf("the inbox says %s", text)
		}
		a.call("t-accept", m{"handoff": sent["handoff"]})
		a.call("t-progress", m{"task": sent["task"], "note": "half of it"})
		if text, _ := a.call("t-complete", m{"task": sent["task"], "text": "done"}); !strings.Contains(text, "call t-inbox") {
			t.Errorf("the result says %s", text)
		}
		if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "t-send", Arguments: m{}}); err == nil {
			t.Error("it can call send")
		}
		prompts, err := a.ListPrompts(t.Context(), nil)
		if err != nil || len(prompts.Prompts) == 0 {
			t.Fatalf("%+v, %v", prompts, err)
		}
		for _, p := range prompts.Prompts {
			args := map[string]string{}
			for _, x := range p.Arguments {
				args[x.Name] = "coder"
			}
			if r, err := a.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args}); err != nil || strings.Contains(r.Messages[0].Content.(*mcp.TextContent).Text, "not one of your tools") {
				t.Errorf("the prompt %s: %+v, %v", p.Name, r, err)
			}
		}
		if r, err := a.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "handoff"}); err == nil {
			t.Errorf("a prompt that needs another tool: %+v", r)
		}
		if got := a.InitializeResult().Instructions; strings.Contains(got, "join") || !strings.Contains(got, "then call t-complete.") {
			t.Errorf("instructions: %s", got)
		}
	})
}

func TestTheSetAllHasWhatTheDefaultLeavesOut(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		a, err := h.at(version, "coder", "tools=all")
		if err != nil {
			t.Fatal(err)
		}
		if got, usual := a.names(), h.agent(version, "other").names(); !slices.Equal(got[:len(usual)], usual) || len(got) != len(usual)+8 {
			t.Errorf("the tools are %v", got)
		}
		_, task := a.call("send", m{"intent": "Write the parser"})
		a.call("constrain", m{"task": task["task"], "constraint": "budget!:few calls", "id": "calls", "max": 5.0, "allow": nil, "key": "k1"})
		if text, _, refused := a.try("constrain", m{"task": task["task"], "constraint": "budget!:more calls", "id": "calls", "max": 9}); !refused {
			t.Errorf("it was loosened: %s", text)
		}
		if text := a.read("status", m{"id": task["task"], "history": true}); !strings.Contains(text, fmt.Sprintf("#%.0f ", task["position"])) {
			t.Errorf("the history names no entry to annotate: %s", text)
		}
		a.call("annotate", m{"task": task["task"], "entry": task["position"], "note": "wrong title"})
		got, err := h.admin.Task(t.Context(), task["task"].(string))
		if err != nil || len(got.Constraints) != 1 || got.Constraints[0].Max == nil || *got.Constraints[0].Max != 5 {
			t.Errorf("%+v, %v", got.Constraints, err)
		}
		a.call("constrain", m{"task": task["task"], "lift": "calls", "why": "no need", "id": ""})
		if text, _, refused := a.try("dead", m{"task": task["task"], "action": "replay", "why": "again"}); !refused || !strings.Contains(text, "operator") && !strings.Contains(text, "forbidden") {
			t.Errorf("an agent revives a task: %s", text)
		}
		if text, _, refused := a.try("constrain", m{"task": task["task"]}); !refused || !strings.Contains(text, "constrain needs") {
			t.Errorf("nothing to constrain: %s", text)
		}
	})
}

// operator connects the operator olga, with all tools.
func operator(h *harness) *agent {
	h.t.Helper()
	made, err := h.admin.CreateToken(h.t.Context(), client.TokenInput{Role: client.RoleOperator, Name: "olga"})
	if err != nil {
		h.t.Fatal(err)
	}
	transport := &mcp.StreamableClientTransport{
		Endpoint: "http://localhost/mcp?tools=all", HTTPClient: &http.Client{Transport: bearer{made.Text, inprocess.Transport(h.api)}},
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "olga", Version: "1"}, nil).Connect(h.t.Context(), transport, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = s.Close() })
	return &agent{s, h.t, "olga"}
}

func TestAnOperatorSilencesAnAlertOverMCP(t *testing.T) {
	h := open(t)
	h.agent("", "coder")
	olga := operator(h)
	if text, _ := olga.call("alerts", m{}); !strings.Contains(text, "No alerts.") {
		t.Error(text)
	}
	if text, _ := olga.call("alerts", m{"action": "show", "alert": "circuit-open:coder"}); !strings.Contains(text, "it gets no offers") || !strings.Contains(text, "`trapeze.circuits (threshold: > 0)`") || !strings.Contains(text, "trapeze agent show coder") {
		t.Error(text)
	}
	_, data := olga.call("alerts", m{"action": "silence", "alert": "circuit-open:coder", "why": "is being repaired", "for": "2h"})
	if data["silence"] != "s1" {
		t.Errorf("%v", data)
	}
	if text, _ := olga.call("alerts", m{"action": "show", "alert": "circuit-open:coder"}); !strings.Contains(text, "Silenced until") {
		t.Error(text)
	}
	olga.call("alerts", m{"action": "end", "silence": "s1"})
	for _, bad := range []m{
		{"action": "show"},
		{"alert": "circuit-open"},
		{"action": "silence", "alert": "circuit-open"},
		{"action": "end"},
		{"why": "x"},
		{"action": "show", "alert": "circuit-open", "severity": "info"},
		{"action": "show", "alert": "nothing"},
		{"action": "end", "silence": "s1"},
	} {
		if text, _, refused := olga.try("alerts", bad); !refused {
			t.Errorf("%v: %s", bad, text)
		}
	}
	coder, err := h.at(statelessVersion, "coder", "tools=all")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []m{{}, {"action": "silence", "alert": "circuit-open", "why": "x", "for": "2h"}} {
		if text, _, refused := coder.try("alerts", in); !refused || !strings.Contains(text, "operator") {
			t.Errorf("an agent: %s", text)
		}
	}
}

// No two of the tools, prompts and resources share a name, in any set and under any prefix: clients list them in one menu, or show a model all
// of them as tools.
func TestNoTwoOfToolsPromptsAndResourcesShareAName(t *testing.T) {
	h := open(t)
	for _, set := range toolset.Names() {
		for _, prefix := range []string{"", "trapeze_"} {
			a, err := h.at(statelessVersion, "coder", "tools="+set+"&prefix="+prefix)
			if err != nil {
				t.Fatal(err)
			}
			names := a.names()
			prompts, err := a.ListPrompts(t.Context(), nil)
			if err != nil || len(prompts.Prompts) == 0 {
				t.Fatalf("%s: %v, %v", set, prompts, err)
			}
			for _, p := range prompts.Prompts {
				names = append(names, p.Name)
			}
			resources, err := a.ListResources(t.Context(), nil)
			if err != nil || len(resources.Resources) == 0 {
				t.Fatalf("%s: %v, %v", set, resources, err)
			}
			for _, r := range resources.Resources {
				names = append(names, r.Name)
			}
			templates, err := a.ListResourceTemplates(t.Context(), nil)
			if err != nil || len(templates.ResourceTemplates) == 0 {
				t.Fatalf("%s: %v, %v", set, templates, err)
			}
			for _, r := range templates.ResourceTemplates {
				names = append(names, r.Name)
			}
			slices.Sort(names)
			for i, name := range names[1:] {
				if name == names[i] {
					t.Errorf("tools=%s, prefix=%q: two are named %s", set, prefix, name)
				}
			}
		}
	}
}
