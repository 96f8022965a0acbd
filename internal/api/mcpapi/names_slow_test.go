//go:build slow

package mcpapi_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// usual are calls that the server takes, or refuses for nothing that is wrong with an argument, after the name of their tool.
var usual = map[string]func(own, offered, item string) m{
	"join":            func(_, _, _ string) m { return m{} },
	"inbox":           func(_, _, _ string) m { return m{"wait": 0} },
	"send":            func(own, _, _ string) m { return m{"task": own, "to": "lead"} },
	"send new":        func(_, _, _ string) m { return m{"intent": "Write another", "to": "lead"} },
	"send delegation": func(own, _, _ string) m { return m{"task": own, "to": "lead", "kind": "delegation", "ask": "test it"} },
	"send share":      func(own, _, _ string) m { return m{"task": own, "to": "lead", "share_only": true} },
	"accept":          func(_, offered, _ string) m { return m{"handoff": offered} },
	"accept takeover": func(_, offered, _ string) m { return m{"takeover": offered} },
	"reject":          func(_, offered, _ string) m { return m{"handoff": offered, "reason": "overloaded"} },
	"reject missing": func(_, offered, _ string) m {
		return m{"handoff": offered, "reason": "missing_context", "missing": "facts"}
	},
	"decide":            func(_, offered, _ string) m { return m{"id": offered, "verdict": "deny"} },
	"decide answer":     func(own, _, _ string) m { return m{"id": own + ".k1", "verdict": "answer", "text": "yes"} },
	"progress":          func(own, _, _ string) m { return m{"task": own, "note": "half of it"} },
	"complete":          func(own, _, _ string) m { return m{"task": own, "text": "done"} },
	"complete failed":   func(own, _, _ string) m { return m{"task": own, "text": "no", "failed": true} },
	"escalate":          func(own, _, _ string) m { return m{"task": own, "to": "lead", "detail": "too hard"} },
	"escalate stuck":    func(_, _, _ string) m { return m{"stuck": "lead"} },
	"ask":               func(own, _, _ string) m { return m{"task": own, "question": "Which one?", "wait": 0} },
	"status":            func(own, _, _ string) m { return m{"id": own} },
	"status history":    func(own, _, _ string) m { return m{"id": own, "history": true} },
	"status preview":    func(_, offered, _ string) m { return m{"id": offered, "preview": true} },
	"status all":        func(_, _, _ string) m { return m{} },
	"cancel":            func(own, _, _ string) m { return m{"id": own, "why": "not needed"} },
	"remember":          func(_, _, _ string) m { return m{"text": "the grammar is in docs"} },
	"remember revise":   func(_, _, item string) m { return m{"revise": item, "text": "the grammar is in src"} },
	"remember tag":      func(_, _, item string) m { return m{"tag": item, "tags": []any{"docs"}} },
	"remember forget":   func(_, _, item string) m { return m{"forget": item} },
	"remember unpin":    func(_, _, item string) m { return m{"unpin": item} },
	"recall":            func(_, _, _ string) m { return m{"query": "grammar"} },
	"recall one":        func(_, _, item string) m { return m{"id": item} },
	"conversation":      func(_, _, _ string) m { return m{"id": "talk"} },
	"conversation say":  func(_, _, _ string) m { return m{"id": "talk", "say": "hello"} },
	"route":             func(own, _, _ string) m { return m{"task": own} },
	"constrain":         func(own, _, _ string) m { return m{"task": own, "constraint": "never push"} },
	"constrain budget":  func(own, _, _ string) m { return m{"task": own, "constraint": "budget:few calls", "max": "1"} },
	"constrain lift":    func(own, _, _ string) m { return m{"task": own, "lift": "c1", "why": "done"} },
	"constrain tokens":  func(own, _, _ string) m { return m{"task": own, "tokens": 200} },
	"artifact":          func(_, _, _ string) m { return m{"text": "a log"} },
	"artifact get":      func(_, _, _ string) m { return m{"digest": "sha256:" + strings.Repeat("0", 64)} },
	"channel":           func(_, _, _ string) m { return m{"action": "create", "name": "builds"} },
	"channel subscribe": func(_, _, _ string) m { return m{"action": "subscribe", "name": "builds"} },
	"dead":              func(_, _, _ string) m { return m{"action": "list"} },
	"dead replay":       func(own, _, _ string) m { return m{"action": "replay", "task": own, "to": "lead"} },
	"agent":             func(_, _, _ string) m { return m{"agent": "coder"} },
	"agent register":    func(_, _, _ string) m { return m{"agent": "helper", "action": "register", "capabilities": "go"} },
	"agent announce":    func(_, _, _ string) m { return m{"agent": "helper", "action": "announce", "readiness": "busy"} },
	"agent shed":        func(_, _, _ string) m { return m{"agent": "helper", "action": "shed"} },
	"annotate":          func(own, _, _ string) m { return m{"task": own, "entry": 1.0, "note": "wrong title"} },
	"alerts":            func(_, _, _ string) m { return m{"action": "list"} },
	"alerts silence": func(_, _, _ string) m {
		return m{"action": "silence", "alert": "tasks-stuck", "why": "known", "for": "1h"}
	},
	"alerts end":         func(_, _, _ string) m { return m{"action": "end", "silence": "s1"} },
	"do":                 func(_, _, _ string) m { return m{"text": "show active handoffs"} },
	"progress gap":       func(own, _, _ string) m { return m{"task": own, "gap": "facts"} },
	"progress heartbeat": func(own, _, _ string) m { return m{"task": own} },
}

// wrong are values that most arguments of a type cannot have.
var wrong = map[any][]any{
	"string":  {"x\x00y", " ", "☃ no\nsuch", strings.Repeat("x", 70_000), m{"a": 1}, []any{m{}}, 1.5, true},
	"integer": {-1.0, 1e15, 1.5, "many", m{"a": 1}, []any{1.0}, true},
	"number":  {-1.0, 2.0, 1e15, "many", m{"a": 1}, []any{1.0}, true},
	"boolean": {"perhaps", 2.0, m{"a": 1}},
	"array":   {[]any{"x\x00y"}, []any{""}, []any{" "}, []any{"☃ no\nsuch"}, []any{m{"a": 1}}, []any{strings.Repeat("x", 70_000)}, slices.Repeat([]any{"a"}, 400), m{"a": 1}, 1.5, true},
	nil:       {"{", strings.Repeat("x", 300_000)},
}

var (
	// others matches the refusal of an argument that does not go with the others of the call, whatever its value is.
	others = regexp.MustCompile(`\bomit\b|takes? no other argument|give one of the (two|three)|it is for them`)
	// named matches the beginning of a refusal that names arguments where the sentence needs them.
	named = regexp.MustCompile(`^[a-z_]+ needs |^give `)
)

// A call with one argument that is wrong is refused with the name that the schema of the tool gives it, and no other word for it.
func TestARefusalNamesTheArgumentThatIsWrong(t *testing.T) {
	h := open(t)
	lead, coder := h.agent(statelessVersion, "lead"), h.full("coder")
	every, err := toolset.New("", "all")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range every.Tools() {
		if usual[tool] == nil {
			t.Errorf("%s has no call here", tool)
		}
	}
	list, err := coder.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	arguments := map[string]m{}
	for _, x := range list.Tools {
		arguments[x.Name] = x.InputSchema.(m)["properties"].(m)
	}
	var own, offer, item m
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		tool, _, _ := strings.Cut(name, " ")
		for argument, schema := range arguments[tool] {
			for _, value := range wrong[schema.(m)["type"]] {
				if own == nil {
					_, own = coder.call("send", m{"intent": "Write the parser", "budget_tokens": 100})
					_, offer = lead.call("send", m{"intent": "Review the parser", "to": "coder"})
					_, item = coder.call("remember", m{"text": "the grammar is in lib"})
				}
				args := usual[name](own["task"].(string), offer["handoff"].(string), item["id"].(string))
				args[argument] = value
				text, data, refused := coder.try(tool, args)
				if !refused {
					own = nil
				}
				if !refused || data["code"] != "invalid" && data["code"] != "too_large" {
					continue
				}
				said, _ := data["message"].(string)
				if others.MatchString(said) || strings.HasPrefix(said, argument) || named.MatchString(said) && regexp.MustCompile(`\b`+argument+`\b`).MatchString(said) {
					continue
				}
				t.Errorf("%s with %s=%.30q: %.200s", name, argument, value, text)
			}
		}
	}
}
