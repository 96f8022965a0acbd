package httpapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// confusables are what somebody could take for "refunds": by a letter of another script, a dash, a character that is not seen, full width, a line that ends.
var confusables = []string{"r\u0435funds", "refunds\u2011a", "refunds\u2212a", "ref\u200bunds", "refunds\u202e", "\uff52efunds", "refund\u0455", "refunds\u00ad", "r\u0065\u0301funds", "re funds", "refunds\n"}

// naming are the calls that make a name, with NAME in its place, and whether names there are in lower case.
var naming = []struct {
	line, body string
	lower      bool
}{
	{"PUT /v1/agents/NAME", `{}`, true},
	{"PUT /v1/agents/ann", `{"capabilities":["NAME"]}`, true},
	{"PUT /v1/agents/ann", `{"tokenizer":"NAME"}`, true},
	{"PUT /v1/agents/ann", `{"fallbacks":["NAME"]}`, true},
	{"POST /v1/channels", `{"name":"NAME"}`, true},
	{"POST /v1/tokens", `{"role":"operator","name":"NAME"}`, true},
	{"POST /v1/tokens", `{"role":"operator","name":"kim","workspace":"NAME"}`, true},
	{"POST /v1/workspaces", `{"name":"NAME"}`, true},
	{"POST /v1/workspaces", `{"name":"other","bearer":"NAME"}`, true},
	{"POST /v1/tokens", `{"role":"agent","name":"ann","person":"NAME"}`, true},
	{"POST /v1/conversations/NAME/turns", `{"role":"user","text":"hello","agent":"ann"}`, true},
	{"POST /v1/memory", `{"text":"x","scope":"workspace","tags":["NAME"]}`, true},
	{"POST /v1/memory", `{"text":"x","scope":"workspace","conversation":"NAME"}`, true},
	{"POST /v1/memory/ITEM/tag", `{"tags":["NAME"]}`, true},
	{"POST /v1/tasks", `{"intent":"x","conversation":"NAME"}`, true},
	{"POST /v1/tasks", `{"intent":"x","route":["NAME"]}`, true},
	{"POST /v1/tasks", `{"intent":"x","send":{"to":["ann"],"kind":"supervised","approver":"NAME"}}`, true},
	{"POST /v1/tasks", `{"intent":"x","tags":["NAME"]}`, false},
	{"POST /v1/tasks", `{"intent":"x","tags":["refunds","Refunds"]}`, true},
	{"POST /v1/tasks", `{"intent":"x","permissions":["NAME"]}`, false},
	{"POST /v1/tasks", `{"intent":"x","permissions":["refunds","Refunds"]}`, true},
	{"POST /v1/tasks", `{"intent":"x","send":{"to":["ann"],"permissions":["NAME"]}}`, false},
	{"POST /v1/tasks", `{"intent":"x","constraints":[{"id":"NAME","kind":"format","text":"short"}]}`, false},
	{"POST /v1/tasks", `{"intent":"x","content":{"key_facts":[{"id":"NAME","text":"x"}]}}`, false},
	{"POST /v1/tasks", `{"intent":"x","content":{"key_facts":[{"id":"refunds","text":"x"},{"id":"Refunds","text":"y"}]}}`, true},
	{"POST /v1/tasks", `{"intent":"x","content":{"decisions":[{"id":"NAME","text":"x"}]}}`, false},
	{"POST /v1/tasks/import", `{"document":{"task_summary":"x","target_agent":"NAME"}}`, true},
}

// TestNoNameCanBeTakenForAnother goes through every call that makes a name.
func TestNoNameCanBeTakenForAnother(t *testing.T) {
	h := open(t, httpapi.Options{})
	h.agent("ann")
	item, err := h.as(h.admin).Remember(t.Context(), client.RememberInput{Text: "x", Scope: client.ScopeWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	call := func(line, body, name string) reply {
		line = strings.NewReplacer("NAME", pathOf(name), "ITEM", item.ID).Replace(line)
		return h.call(h.admin, line, strings.ReplaceAll(body, "NAME", strings.Trim(strconv.QuoteToASCII(name), `"`)))
	}
	for _, n := range naming {
		plain := call(n.line, n.body, "refunds9")
		if strings.Contains(n.body+n.line, "NAME") && (plain.status == http.StatusBadRequest || plain.status == http.StatusUnprocessableEntity) {
			t.Errorf("%s %s is refused for another reason: %s", n.line, n.body, plain.body)
		}
		names := confusables
		if n.lower {
			names = append([]string{"Refunds"}, names...)
		}
		for _, name := range names {
			r := call(n.line, n.body, name)
			if r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity || !strings.Contains(r.body, `"hint":"`) {
				t.Errorf("%s %s with %q: %d %s", n.line, n.body, name, r.status, r.body)
			}
		}
	}
	for _, id := range []string{
		"by", "By", "operator", "Operator-", "operator/olga", "operator/olga:", "(by", "-", "#", "olga:", "task_1", "mem_06h292fdtdtn7403veks9t90v4", strings.Repeat("a", 65), ".a", "a,b", "\"a", "all",
	} {
		for _, field := range []string{"key_facts", "decisions"} {
			body := `{"intent":"x","content":{"` + field + `":[{"id":` + strconv.Quote(id) + `,"text":"x"}]}}`
			if r := h.call(h.admin, "POST /v1/tasks", body); r.status != http.StatusBadRequest || !strings.Contains(r.body, `"field":"`+field+`"`) || !strings.Contains(r.body, "use up to 64 of a-z") {
				t.Errorf("%s: %d %s", body, r.status, r.body)
			}
		}
	}
	for _, id := range []string{"state", "Notes", "files."} { // lines of prompts begin with them
		r := h.call(h.admin, "POST /v1/tasks", `{"intent":"x","content":{"key_facts":[{"id":"`+id+`","text":"sound"}]}}`)
		_, task, _ := strings.Cut(r.body, `"task":"`)
		task, _, _ = strings.Cut(task, `"`)
		prompt := h.call(h.admin, "GET /v1/tasks/"+task+"/content?render=true", "")
		if r.status != http.StatusCreated || !strings.Contains(prompt.body, `- \"`+id+`\" sound\n`) {
			t.Errorf("%q: %d %s; %d %s", id, r.status, r.body, prompt.status, prompt.body)
		}
	}
	for _, label := range []string{"refunds:write", "Files.Read", "a+b@c#d=1"} { // of other systems
		if r := h.call(h.admin, "POST /v1/tasks", `{"intent":"x","tags":["`+label+`"],"permissions":["`+label+`"]}`); r.status != http.StatusCreated {
			t.Errorf("%q: %d %s", label, r.status, r.body)
		}
	}
}

// pathOf is a name as a segment of a path.
func pathOf(name string) string {
	var b strings.Builder
	for i := range len(name) {
		b.WriteString("%" + strconv.FormatInt(int64(name[i])+0x100, 16)[1:])
	}
	return b.String()
}
