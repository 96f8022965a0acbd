//go:build slow

package mcpapi_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// The id of one kind where another is expected is refused, with the call that takes it, and changes nothing.
func TestAnIDOfAnotherKindIsRefused(t *testing.T) {
	h := open(t)
	lead, coder := h.agent(statelessVersion, "lead"), h.full("coder")
	_, sent := lead.call("send", m{"intent": "Write the parser", "to": "coder"})
	task, handoff := sent["task"].(string), sent["handoff"].(string)
	coder.call("accept", m{"handoff": handoff})
	_, asked := coder.call("ask", m{"task": task, "question": "Which one?", "to": "lead"})
	_, stored := coder.call("remember", m{"text": "the grammar is in docs"})
	_, offer := lead.call("send", m{"intent": "Test the parser", "to": "coder"})
	ticket, item, offered := asked["ticket"].(string), stored["id"].(string), offer["task"].(string)
	_, before := lead.call("status", m{"id": task})
	for _, wrong := range []struct{ id, says string }{
		{ticket, "decide id=" + ticket + " verdict=answer, decide id=TICKET verdict=approve"},
		{task + ".t1", "decide id=" + task + ".t1 verdict=approve"},
		{task + ".s1", "is read (status id=" + task + ".s1)"},
		{task + ".n1", "its task (status id=" + task + ")"},
		{item, "recall id=" + item + ", remember revise=ID"},
		{task + ".h9", "fetch the task (status id=" + task + ")"},
	} {
		for tool, args := range map[string]m{
			"complete": {"text": "done"}, "progress": {"note": "half"}, "send": {"to": "lead"}, "ask": {"question": "Why?"}, "escalate": {"detail": "too hard"},
			"route": {}, "constrain": {"constraint": "never push"}, "annotate": {"entry": 1, "note": "wrong"},
			"remember": {"text": "more"}, "recall": {"query": "grammar"}, "conversation": {"id": "talk", "say": "hello"}, "do": {"text": "escalate this"},
		} {
			args["task"] = wrong.id
			if text, _, refused := coder.try(tool, args); !refused || !strings.Contains(text, wrong.says) {
				t.Errorf("%s with task=%s: %s", tool, wrong.id, text)
			}
		}
		for _, c := range []struct {
			tool string
			args m
		}{{"accept", m{"takeover": wrong.id}}, {"cancel", m{"id": wrong.id, "why": "late"}}, {"accept", m{"handoff": wrong.id}}, {"reject", m{"handoff": wrong.id, "reason": "overloaded"}}} {
			if wrong.id == task+".h9" && c.args["takeover"] == nil {
				continue // it is the id of a handoff
			}
			if text, _, refused := coder.try(c.tool, c.args); !refused || !strings.Contains(text, wrong.says) {
				t.Errorf("%s %v: %s", c.tool, c.args, text)
			}
		}
	}
	for tool, args := range map[string]m{"recall": {"id": task}, "remember": {"forget": ticket}, "decide": {"id": item, "verdict": "approve"}} {
		if text, _, refused := coder.try(tool, args); !refused {
			t.Errorf("%s %v: %s", tool, args, text)
		}
	}
	if _, after := lead.call("status", m{"id": task}); before["position"] != after["position"] {
		t.Errorf("it has changed: %v, now %v", before, after)
	}
	if got, err := h.admin.Task(t.Context(), offered); err != nil || got.State != client.HandingOff {
		t.Errorf("the offer: %+v, %v", got.State, err)
	}
}

// neutral is what a model writes for an argument that it would omit, if it must fill every field and may not write null.
func neutral(schema m) any {
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	return m{"string": "", "integer": 0.0, "number": 0.0, "boolean": false, "array": []any{}, "object": m{}}[schema["type"].(string)]
}

// fill gives each argument of a tool that a call omits a value, by the schemas that the client sees.
func (a *agent) fill(tool string, args m, with func(schema m) any) m {
	a.t.Helper()
	tools, err := a.ListTools(a.t.Context(), nil)
	if err != nil {
		a.t.Fatal(err)
	}
	out := maps.Clone(args)
	for _, x := range tools.Tools {
		if x.Name != tool {
			continue
		}
		for name, schema := range x.InputSchema.(m)["properties"].(m) {
			if _, there := out[name]; !there {
				s := schema.(m)
				if s["type"] == nil { // any JSON: SDKs show it to models as text
					s = m{"type": "string"}
				}
				out[name] = with(s)
			}
		}
	}
	return out
}

// What a strict model fills in counts as omitted: it can send what it owns, and revise and forget. The calls of all tools are in the slow suite.
func TestAModelThatMustFillEveryFieldCanDoItsWork(t *testing.T) {
	h := open(t)
	lead, coder := h.full("lead"), h.full("coder")
	call := func(a *agent, tool string, args m) m {
		t.Helper()
		text, data, refused := a.try(tool, a.fill(tool, args, neutral))
		if refused {
			t.Fatalf("%s %v: %s", tool, args, text)
		}
		return data
	}
	call(coder, "join", m{})
	sent := call(lead, "send", m{"intent": "Write the parser", "to": []any{"coder"}, "result_schema": m{"type": "object", "required": []any{"n"}}})
	call(coder, "accept", m{"handoff": sent["handoff"]})
	call(coder, "constrain", m{"task": sent["task"], "constraint": "budget:few calls"})
	call(coder, "send", m{"task": sent["task"], "to": []any{"lead"}, "ask": "go on"})
	got, err := h.admin.Task(t.Context(), sent["task"].(string))
	if err != nil || got.Handoff == nil || got.Handoff.Kind != client.Warm || len(got.Constraints) != 1 || got.Constraints[0].Max != nil {
		t.Errorf("%+v, %v", got, err)
	}
	prompt, _ := lead.call("accept", m{"handoff": got.Handoff.ID})
	if strings.Contains(strings.ToLower(prompt), "confidence") || strings.Contains(prompt, "at most 0") {
		t.Errorf("the receiver reads what nobody wrote: %s", prompt)
	}
	call(lead, "complete", m{"task": sent["task"], "data": `{"n": 3}`})
	item := call(coder, "remember", m{"text": "the grammar is in docs"})
	call(coder, "remember", m{"revise": item["id"], "text": "the grammar is in src"})
	call(coder, "remember", m{"forget": item["id"]})
}

// An empty value beside the text of a result is filled in; alone, or where JSON is expected, it is the result.
func TestAnEmptyResultCountsWhereItCanBeMeant(t *testing.T) {
	h := open(t)
	lead, coder := h.agent(statelessVersion, "lead"), h.agent(statelessVersion, "coder")
	for _, c := range []struct {
		schema any
		result m
		want   string
	}{
		{nil, m{"text": "none", "data": nil}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": ""}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": m{}}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": []any{}}, `{"text":"none"}`},
		{nil, m{"text": "none", "data": 0.0}, `{"text":"none","data":0}`},
		{nil, m{"data": []any{}}, `{"data":[]}`},
		{nil, m{"data": nil}, `{}`},
		{m{"type": "array"}, m{"text": "none", "data": []any{}}, `{"text":"none","data":[]}`},
		{nil, m{"data": `{"n": 3}`}, `{"data":{"n":3}}`},
		{nil, m{"text": "three", "data": "3"}, `{"text":"three","data":"3"}`},
		{m{"type": "object"}, m{"data": ` {"n": 3}`}, `{"data":{"n":3}}`},
		{m{"type": []any{"integer", "null"}}, m{"data": "3"}, `{"data":3}`},
		{m{"type": "string"}, m{"data": "[3]"}, `{"data":"[3]"}`},
		{m{"type": "null"}, m{"text": "none", "data": nil}, `{"text":"none","data":null}`},
		{m{"type": []any{"object", "null"}}, m{"text": `{"n": 3}`, "data": nil}, `{"text":"{\"n\": 3}"}`},
		{m{"type": "integer"}, m{"text": "none", "data": 0.0}, `{"text":"none","data":0}`},
	} {
		_, sent := lead.call("send", m{"intent": "Find bugs", "to": "coder", "result_schema": c.schema})
		coder.call("accept", m{"handoff": sent["handoff"]})
		c.result["task"] = sent["task"]
		coder.call("complete", c.result)
		got, err := h.admin.Task(t.Context(), sent["task"].(string))
		if err != nil || got.Result == nil {
			t.Fatalf("%v: %+v, %v", c.result, got.Result, err)
		}
		if text, _ := json.Marshal(got.Result); string(text) != c.want {
			t.Errorf("with schema %v, %v is %s, want %s", c.schema, c.result, text, c.want)
		}
	}
}

// What a strict model fills in for data never keeps a text from being the result, if the text is what the task expects.
func TestATextThatMeetsTheSchemaIsTheResultBesideDataThatIsFilledIn(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		lead, coder := h.agent(version, "lead"), h.agent(version, "coder")
		for _, data := range []any{nil, "", m{}, []any{}, 0.0, false, "null", "0", "{}"} {
			_, sent := lead.call("send", m{"intent": "Count", "to": "coder", "result_schema": m{"type": "object", "required": []any{"n"}}})
			coder.call("accept", m{"handoff": sent["handoff"]})
			if text, _, refused := coder.try("complete", m{"task": sent["task"], "text": "many", "data": data}); !refused || !strings.Contains(text, "text: is not JSON") {
				t.Errorf("text that is none, with data %v: %s", data, text)
			}
			key := "done" + sent["task"].(string)
			coder.call("complete", m{"task": sent["task"], "text": `{"n": 1}`, "data": data, "key": key})
			coder.call("complete", m{"task": sent["task"], "text": `{"n": 1}`, "data": data, "key": key})
			got, err := h.admin.Task(t.Context(), sent["task"].(string))
			if err != nil || got.Result == nil || got.Result.Text != `{"n": 1}` || got.Result.Data != nil {
				t.Errorf("with data %v: %+v, %v", data, got.Result, err)
			}
		}
	})
}
