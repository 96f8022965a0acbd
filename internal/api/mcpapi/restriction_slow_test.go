//go:build slow

package mcpapi_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestAReceiverReadsThatNothingIsAllowed(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		reviewer := h.agent(version, "reviewer")
		reviewer.call("join", m{})
		sender := h.as(h.token("sender"))
		rule := client.Constraint{ID: "lang", Kind: client.ConstraintFormat, Text: "languages", Allow: []string{}}
		if _, err := sender.CreateTask(t.Context(), client.CreateInput{
			Intent: "look at it", Permissions: []string{}, Constraints: []client.Constraint{rule}, Send: &client.SendInput{To: []string{"reviewer"}},
		}); err != nil {
			t.Fatal(err)
		}
		_, box := reviewer.call("inbox", m{"wait": 5})
		text, _ := reviewer.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
		for _, want := range []string{"- Your permissions: none", "lang (format, should, only: nothing is allowed"} {
			if !strings.Contains(text, want) {
				t.Errorf("the context lacks %q: %s", want, text)
			}
		}
	})
}

func TestAReceiverReadsWhoSetWhat(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		reviewer, tester := h.agent(version, "reviewer"), h.agent(version, "tester")
		reviewer.call("join", m{})
		tester.call("join", m{})
		sender, most := h.as(h.token("sender")), 100.0
		rules := []client.Constraint{{ID: "lang", Kind: client.ConstraintFormat, Text: "Answer in German."}, {ID: "spend", Kind: client.ConstraintBudget, Text: "euros", Max: &most}}
		if _, err := sender.CreateTask(t.Context(), client.CreateInput{Intent: "look at it", Constraints: rules, Send: &client.SendInput{To: []string{"reviewer"}}}); err != nil {
			t.Fatal(err)
		}
		_, box := reviewer.call("inbox", m{"wait": 5})
		_, mine := reviewer.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
		if text, _, refused := reviewer.try("send", m{"task": mine["task"], "to": []string{"tester"}, "constraints": []string{"Lang=format:English is fine."}}); !refused || !strings.Contains(text, "looks like") {
			t.Errorf("a look-alike: %s", text)
		}
		reviewer.call("send", m{"task": mine["task"], "to": []string{"tester"}, "constraints": []string{"short=format!:One page."}})
		_, box = tester.call("inbox", m{"wait": 5})
		text, _ := tester.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
		want := "spend (budget, should, at most 100, by sender) euros\n"
		added := "short (format, by reviewer) One page.\n"
		if rule, own := strings.Index(text, want), strings.Index(text, added); rule < 0 || own < rule || !strings.Contains(text[rule:own], "# Added by agents") {
			t.Errorf("the context is\n%s", text)
		}
	})
}

func TestOpenQuestionsAreClosedAndEmptyArgumentsLeaveThemOpen(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		coder, reviewer, tester := h.agent(version, "coder"), h.agent(version, "reviewer"), h.agent(version, "tester")
		send := func(from, to *agent, args m) string {
			to.call("join", m{})
			from.call("send", args)
			_, box := to.call("inbox", m{"wait": 5})
			text, mine := to.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
			args["task"] = mine["task"]
			return text
		}
		args := m{"intent": "look at it", "to": []string{"reviewer"}, "questions": []string{"Who pays?"}}
		if text := send(coder, reviewer, args); !strings.Contains(text, "Who pays?") {
			t.Errorf("the question is lost:\n%s", text)
		}
		args = m{"task": args["task"], "to": []string{"tester"}, "questions": []any{}}
		if text := send(reviewer, tester, args); !strings.Contains(text, "Who pays?") {
			t.Errorf("an empty argument closed the question:\n%s", text)
		}
		args = m{"task": args["task"], "to": []string{"coder"}, "questions": []string{"none"}, "decisions": []string{"Ann pays."}}
		if text := send(tester, coder, args); strings.Contains(text, "Who pays?") || strings.Contains(text, "pen questions") {
			t.Errorf("the question is still open:\n%s", text)
		}
	})
}

func TestAConstraintWithEmptyArgumentsAllowsWhatItDidBefore(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	empty := m{"id": "", "allow": []any{}, "max": nil, "lift": "", "tightened_by": "", "why": "", "key": "", "tokens": 0, "cost": 0, "epoch": 0}
	with := func(more m) m {
		args := maps.Clone(empty)
		maps.Copy(args, more)
		return args
	}
	_, made := coder.call("send", m{"intent": "Write it"})
	task := made["task"].(string)
	allowed := func(id string) []string {
		t.Helper()
		got, err := h.admin.Task(t.Context(), task)
		i := slices.IndexFunc(got.Constraints, func(k client.Constraint) bool { return k.ID == id })
		if err != nil || i < 0 {
			t.Fatalf("%s: %+v, %v", id, got.Constraints, err)
		}
		return got.Constraints[i].Allow
	}
	coder.call("constrain", with(m{"task": task, "constraint": "format:languages", "id": "langs"}))
	if got := allowed("langs"); got != nil {
		t.Errorf("all arguments empty: %#v is allowed", got)
	}
	coder.call("constrain", with(m{"task": task, "constraint": "format:languages", "id": "langs", "allow": []any{"de", "en"}}))
	if text, _, refused := coder.try("constrain", with(m{"task": task, "constraint": "format:languages", "id": "langs"})); !refused || !strings.Contains(text, "cannot be loosened") {
		t.Errorf("a list that is omitted: %s", text)
	}
	coder.call("constrain", with(m{"task": task, "constraint": "format:languages", "id": "langs", "allow": "none"}))
	if got := allowed("langs"); got == nil || len(got) > 0 {
		t.Errorf("none: %#v is allowed", got)
	}
	if _, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "x"}); err != nil {
		t.Fatal(err)
	}
	made2, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "x", Constraints: []client.Constraint{{ID: "a", Kind: "format", Text: "t", Allow: []string{}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h.admin.Task(t.Context(), made2.Task); err != nil || got.Constraints[0].Allow == nil {
		t.Errorf("an empty list over HTTP allows %+v, %v", got.Constraints, err)
	}
}

// None beside other values contradicts them, so it is refused wherever none, alone, is an empty list; a permission named none is refused over HTTP, too.
func TestNoneIsRefusedBesideOtherValues(t *testing.T) {
	h := open(t)
	coder := h.full("coder")
	_, made := coder.call("send", m{"intent": "Write it"})
	for _, list := range [][]any{{"none", "read"}, {"read", "None"}} {
		coder.refused("send", m{"intent": "Write it", "permissions": list}, "permissions cannot be read: none is not a value beside others")
		coder.refused("send", m{"intent": "Write it", "to": "reviewer", "questions": list}, "questions cannot be read: none")
		coder.refused("constrain", m{"task": made["task"], "constraint": "format:languages", "allow": list}, "allow cannot be read: none")
		var permissions []string
		for _, p := range list {
			permissions = append(permissions, p.(string))
		}
		_, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "x", Permissions: permissions})
		if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.Invalid || !strings.Contains(e.Hint, "empty list") {
			t.Errorf("%q over HTTP: %v", permissions, err)
		}
	}
	_, err := h.admin.ImportTask(t.Context(), client.ImportInput{Document: json.RawMessage(`{"task_context":{"summary":"x"},"permissions":["none","read"]}`)})
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.Invalid || !strings.Contains(e.Hint, "empty list") {
		t.Errorf("of an imported document: %v", err)
	}
	_, none := coder.call("send", m{"intent": "Write it", "permissions": "None"})
	if got, err := h.admin.Task(t.Context(), none["task"].(string)); err != nil || got.Permissions == nil || len(got.Permissions) > 0 {
		t.Errorf("None, alone: %#v, %v", got.Permissions, err)
	}
}

func TestTheRequesterLiftsOverEveryAPIWhatAnAgentTightened(t *testing.T) {
	h := open(t)
	lead, coder := h.full("lead"), h.full("coder")
	coder.call("join", m{})
	langs := func(by *agent, task any, allow ...any) {
		by.call("constrain", m{"task": task, "constraint": "format:languages", "id": "langs", "allow": allow})
	}
	_, made := lead.call("send", m{"intent": "Translate it"})
	task := made["task"].(string)
	langs(lead, task, "de", "en")
	lead.call("send", m{"task": task, "to": "coder"})
	_, box := coder.call("inbox", m{"wait": 5})
	coder.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
	allowed := func(want ...string) {
		t.Helper()
		got, err := h.admin.Task(t.Context(), task)
		if err != nil || len(got.Constraints) != 1 || !slices.Equal(got.Constraints[0].Allow, want) {
			t.Errorf("allowed is %+v, want %v (%v)", got.Constraints, want, err)
		}
	}
	langs(coder, task, "none")
	allowed()
	if text, _, refused := lead.try("constrain", m{"task": task, "tightened_by": "coder", "why": "both"}); !refused || !strings.Contains(text, "tightened_by needs lift") {
		t.Errorf("tightened_by alone: %s", text)
	}
	if text, _, refused := lead.try("constrain", m{"task": task, "lift": "langs", "tightened_by": "nobody", "why": "both"}); !refused || !strings.Contains(text, "it was tightened by coder") {
		t.Errorf("what nobody tightened: %s", text)
	}
	if text, _ := lead.call("constrain", m{"task": task, "lift": "langs", "tightened_by": "coder", "why": "both"}); !strings.Contains(text, "What coder tightened") {
		t.Errorf("the answer is %s", text)
	}
	allowed("de", "en")
	langs(lead, task, "en") // while coder owns it
	allowed("en")
	langs(coder, task, "none")
	if _, err := h.admin.LiftTightening(t.Context(), task, "langs", "agent/coder", "both"); err != nil {
		t.Error(err)
	}
	allowed("en")
	_, err := h.admin.LiftTightening(t.Context(), task, "langs", "coder", "both")
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.NotFound || !strings.Contains(e.Hint, "omit tightened_by") {
		t.Errorf("once more: %v", err)
	}
}

// What was lifted is known by its words and the reason: to the owner who got the task with it, and to the next.
func TestAReceiverReadsWhichConstraintWasLiftedAndWhy(t *testing.T) {
	h := open(t)
	lead, coder, tester := h.full("lead"), h.full("coder"), h.full("tester")
	coder.call("join", m{})
	tester.call("join", m{})
	_, made := lead.call("send", m{"intent": "Translate it", "constraints": []any{"tone=format:Write in a formal tone."}, "to": "coder"})
	task := made["task"].(string)
	_, box := coder.call("inbox", m{"wait": 5})
	coder.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
	if text, _ := coder.call("status", m{"id": task}); !strings.Contains(text, "- `tone (format, should, by lead) Write in a formal tone.`\n") {
		t.Errorf("the owner reads\n%s", text)
	}
	lead.call("constrain", m{"task": task, "lift": "tone", "why": "it is for friends"})
	if text, _ := coder.call("status", m{"id": task}); strings.Contains(text, "tone") {
		t.Errorf("the owner reads\n%s", text)
	}
	coder.call("send", m{"task": task, "to": "tester"})
	_, box = tester.call("inbox", m{"wait": 5})
	text, _ := tester.call("accept", m{"handoff": box["items"].([]any)[0].(m)["id"]})
	if want := "lead lifted constraint tone (“Write in a formal tone.”): it is for friends\n"; !strings.Contains(text, want) {
		t.Errorf("the next owner does not read %q:\n%s", want, text)
	}
}
