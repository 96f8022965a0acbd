//go:build slow

package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// smallReader is an agent with a window of 1,500 tokens, which checks every answer that it gets.
type smallReader struct {
	*agent
	count func(string) int
}

func (h *harness) smallReader(name, tok, tools string) smallReader {
	h.t.Helper()
	counter, err := tokenizer.For(tok)
	if err != nil {
		h.t.Fatal(err)
	}
	a, err := h.at(statelessVersion, name, "tools="+tools)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.admin.RegisterAgent(h.t.Context(), name, client.AgentSpec{ContextWindow: 1500, Tokenizer: tok}); err != nil {
		h.t.Fatal(err)
	}
	return smallReader{a, counter.Count}
}

// page calls a tool, whose answer has at most half of the window.
func (r smallReader) page(tool string, args m) (string, m) {
	r.t.Helper()
	text, data, refused := r.try(tool, args)
	b, err := json.Marshal(data)
	if err != nil || refused {
		r.t.Fatalf("%s %v: %v %s", tool, args, err, text)
	}
	if n := max(r.count(text), r.count(string(b))); n > 750 || data == nil && n == 0 {
		r.t.Errorf("%s %v has %d tokens:\n%s", tool, args, n, text)
	}
	return text, data
}

var goesOn = regexp.MustCompile(`[Tt]he same call with (before=(\d+))?( and )?(after=(\d+))?(skip=(\d+))?( goes on| shows)`)

// next is the arguments with which the answer says that the call goes on; nil at the end.
func next(args m, text string) m {
	found := goesOn.FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	out := m{}
	for k, v := range args {
		out[k] = v
	}
	for name, v := range map[string]string{"before": found[2], "after": found[5], "skip": found[7]} {
		if delete(out, name); v != "" {
			out[name] = json.Number(v)
		}
	}
	return out
}

// words are numbered words of several scripts; each has tokens of its own.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d ", []string{"wörter", "水位", "`tick`", "دیوار", "<tag>", "plain"}[i%6], i)
	}
	return b.String()
}

func TestALargeMemoryItemIsReadInPagesThatFitTheWindow(t *testing.T) {
	for _, tok := range []string{tokenizer.O200kBase, tokenizer.Cl100kBase, "unheard-of"} {
		t.Run(tok, func(t *testing.T) {
			h := open(t)
			r := h.smallReader("small", tok, "")
			for _, want := range []string{words(1500), "short", strings.Repeat("x", 3000), strings.Repeat("\n", 900) + "end"} {
				item, err := h.admin.Remember(t.Context(), client.RememberInput{Text: want, Scope: client.ScopeWorkspace, Title: "a long one"})
				if err != nil {
					t.Fatal(err)
				}
				got, pages := "", 0
				for args := (m{"id": item.ID}); args != nil; pages++ {
					text, data := r.page("recall", args)
					got += data["items"].([]any)[0].(m)["text"].(string)
					args = next(args, text)
				}
				if got != want {
					t.Errorf("%d pages have %d bytes of %d", pages, len(got), len(want))
				}
			}
			if text, _, refused := r.try("recall", m{"id": "mem_01", "after": 7}); !refused || strings.Contains(text, "beyond") {
				t.Errorf("an unknown item: %s", text)
			}
		})
	}
}

func TestVersionsOfAMemoryItemFitTheWindow(t *testing.T) {
	h := open(t)
	r := h.smallReader("small", "", "all")
	item, err := h.admin.Remember(t.Context(), client.RememberInput{Text: words(1000), Scope: client.ScopeWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if _, err := h.admin.Revise(t.Context(), item.ID, client.ReviseInput{Text: fmt.Sprint("version ", i, " ", words(100))}); err != nil {
			t.Fatal(err)
		}
	}
	seen, more := 0, regexp.MustCompile(`call again with after=(\d+)`)
	for args := (m{"id": item.ID, "versions": true}); args != nil; {
		text, data := r.page("recall", args)
		for _, v := range data["versions"].([]any) {
			if seen++; fmt.Sprint(v.(m)["version"]) != fmt.Sprint(seen) {
				t.Errorf("version %v comes as number %d", v.(m)["version"], seen)
			}
		}
		if cut := strings.Contains(text, "read it by id and version"); cut != strings.Contains(text, "\n1, by") {
			t.Errorf("a version that was cut: %t in\n%s", cut, text)
		}
		args = nil
		if found := more.FindStringSubmatch(text); found != nil {
			args = m{"id": item.ID, "versions": true, "after": json.Number(found[1])}
		}
	}
	if seen != 10 {
		t.Errorf("%d versions of 10", seen)
	}
}

func TestAConversationAndAHistoryAreReadInPagesThatFitTheWindow(t *testing.T) {
	h := open(t)
	r := h.smallReader("small", "", "all")
	r.call("join", m{})
	sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "read on", Conversation: "talk", Send: &client.SendInput{To: []string{"small"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = r.call("accept", m{"handoff": sent.Handoff})
	want := map[float64]string{}
	for i := range 12 {
		text := words(40 + 1000*(i%5/4))
		r.call("conversation", m{"id": "talk", "say": text})
		want[float64(i+1)] = text
		r.call("progress", m{"task": sent.Task, "note": words(30)})
	}
	got := map[float64]string{}
	for args := (m{"id": "talk"}); args != nil; {
		text, data := r.page("conversation", args)
		turns := data["turns"].([]any)
		for _, x := range turns {
			got[number(x.(m)["n"])] += x.(m)["text"].(string)
		}
		first := number(turns[0].(m)["n"])
		if args = next(args, text); args == nil && first > 1 { // the end of a turn that was cut
			args = m{"id": "talk", "before": first}
		}
	}
	for n, text := range want {
		if got[n] != text {
			t.Errorf("turn %v has %d bytes of %d", n, len(got[n]), len(text))
		}
	}
	seen := 0
	for args := (m{"id": sent.Task, "history": true}); args != nil; {
		text, _, refused := r.try("status", args)
		if n := r.count(text); n > 750 || refused {
			t.Errorf("a page of the history has %d tokens:\n%s", n, text)
		}
		seen += strings.Count(text, "wörter0")
		args = next(args, text)
	}
	if seen != 12 {
		t.Errorf("%d of 12 reports", seen)
	}
}

func number(v any) float64 {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case float64:
		return v
	}
	return -1
}

func TestABudgetHoldsWithAnyPrefix(t *testing.T) {
	h := open(t)
	counter, err := tokenizer.For(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for i, prefix := range []string{"trapeze_", "a_very_long_prefix_of_all_tools_", "q8Zx-9_qWv7Jk2LmNpQrStUvXyZ01ab_"} {
		a, err := h.at(statelessVersion, fmt.Sprint("reader", i), "prefix="+prefix)
		if err != nil {
			t.Fatal(err)
		}
		a.call(prefix+"join", m{})
		for budget := 400; budget < 440; budget += 3 {
			sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{
				Intent: "Find the double charges", Content: long(), Send: &client.SendInput{To: []string{fmt.Sprint("reader", i)}, Pack: client.Pack{Tokens: budget}},
			})
			if err != nil {
				t.Fatal(err)
			}
			prompt := a.read(prefix+"accept", m{"handoff": sent.Handoff})
			if n := counter.Count(prompt); n > budget {
				t.Errorf("%d tokens of %d with %s:\n%s", n, budget, prefix, prompt)
			}
			if !strings.Contains(prompt, "\n# Left out ("+prefix+"status") {
				t.Errorf("no tool is named:\n%s", prompt)
			}
			if strings.Contains(prompt, "\n# Left out ("+prefix+"status id="+sent.Task+" parts=") {
				named++
			}
			a.call(prefix+"complete", m{"task": sent.Task, "text": "done"})
		}
	}
	if named < 14 {
		t.Errorf("%d prompts of 42 name the whole call", named)
	}
}
