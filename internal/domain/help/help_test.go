package help_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/help"
)

const task = "task_01k8zq3v9m4w6x2c5n7b8d0f1g"

type name string

func TestALinkOfAHintSaysWhatHelps(t *testing.T) {
	for _, c := range []struct {
		hint  string
		about []any
		text  string
		helps []help.Help
	}{
		{hint: "", text: ""},
		{hint: "use another id", text: "use another id"},
		{hint: "[check your inbox](inbox)", text: "check your inbox", helps: []help.Help{{Words: "check your inbox", Call: "inbox"}}},
		{
			hint: "[fetch the task](task show) to see its ticket", about: []any{3, name(task + ".k1")},
			text: "fetch the task to see its ticket", helps: []help.Help{{Words: "fetch the task", Call: "task show", ID: task}},
		},
		{
			hint: "[accept](accept), or [cancel it](task cancel)", about: []any{task, task + ".k1", task + ".h12"},
			text: "accept, or cancel it", helps: []help.Help{{Words: "accept", Call: "accept", ID: task + ".h12"}, {Words: "cancel it", Call: "task cancel", ID: task}},
		},
		{hint: "[it is denied](deny, ticket deny)", text: "it is denied", helps: []help.Help{{Words: "it is denied", Call: "deny"}, {Words: "it is denied", Call: "ticket deny"}}},
		{hint: "[name an agent](.to)", text: "name an agent", helps: []help.Help{{Words: "name an agent", Fields: map[string]string{"to": ""}}}},
		{
			hint: "use pins[0] or f(x)[](memory get) now", about: []any{"mem_01k8zq3v9m4w6x2c5n7b8d0f1g"},
			text: "use pins[0] or f(x) now", helps: []help.Help{{Call: "memory get", ID: "mem_01k8zq3v9m4w6x2c5n7b8d0f1g"}},
		},
		{hint: "[see](https://example.org) [dance](dance) [](", text: "[see](https://example.org) [dance](dance) []("},
		{hint: "[a](inbox x y)", text: "[a](inbox x y)"},
	} {
		text, helps := help.Parse(c.hint, c.about...)
		if text != c.text || !reflect.DeepEqual(helps, c.helps) {
			t.Errorf("%q: %q, %+v; want %q, %+v", c.hint, text, helps, c.text, c.helps)
		}
	}
}

// hostile are names that others could have given.
var hostile = []string{"a b", "x); touch y", ".to=me", "-rf", "$(touch y)", "](inbox)", "[", ", inbox", "50%", "a/b", "task:t"}

func TestAValueInALinkIsThatValueAndOneWordOfACommand(t *testing.T) {
	for _, id := range hostile {
		text, helps := help.Parse("have an admin " + help.To("make it", "workspace create", id, "name="+id) + " first")
		if text != "have an admin make it first" || len(helps) != 1 || helps[0].ID != id || helps[0].Fields["name"] != id {
			t.Errorf("%q became %q, %+v", id, text, helps)
			continue
		}
		if line := helps[0].Command(); strings.HasPrefix(id, "-") && !strings.Contains(line, " -- ") || strings.Contains(line, "$") && !strings.Contains(line, "'$(touch y)'") {
			t.Errorf("%q: %s", id, line)
		}
	}
}

func TestACallIsACommandWithWhatIsKnown(t *testing.T) {
	for hint, want := range map[string]string{
		"[a](accept)":                        "trapeze accept HANDOFF",
		"[a](task wait)":                     "trapeze task show " + task + " --wait",
		"[a](inbox wait)":                    "trapeze inbox --wait",
		"[a](dead replay .budget.tokens=20)": "trapeze dead replay " + task + " --budget-tokens 20",
		"[a](.epoch)":                        "--epoch N",
		"[a](.to)":                           "--to NAME",
		"[a](act as)":                        "--agent NAME",
		"[a](describe)":                      "--help",
		"[a](cluster resume n1)":             "trapeze cluster drain --off n1",
	} {
		_, helps := help.Parse(hint, task)
		if got := helps[0].Command(); got != want {
			t.Errorf("%s is %q, want %q", hint, got, want)
		}
	}
}

func TestAHintIsExplainedInTheWordsOfItsReader(t *testing.T) {
	for hint, want := range map[string]string{
		"wait":                              "wait",
		"[fetch the task](task show) again": "fetch the task (trapeze task show " + task + ") again",
		"[a](deny, ticket deny), or not":    "a (trapeze deny HANDOFF, trapeze ticket deny TICKET), or not",
		"do [one](task complete, task cancel, send) of them": "do one (trapeze task complete " + task + ", trapeze task cancel TASK, trapeze send TASK) of them",
		"use coder[](agent add x)":                           "use coder; or: trapeze agent add x",
		"trapeze inbox[](inbox)":                             "trapeze inbox",
	} {
		text, helps := help.Parse(hint, task)
		if got := help.Explain(text, helps, help.Help.Command); got != want {
			t.Errorf("%s is %q, want %q", hint, got, want)
		}
	}
}

func TestEveryCallHasACommand(t *testing.T) {
	for _, c := range help.Calls() {
		if (help.Help{Call: c}).Command() == "" {
			t.Errorf("%q has none", c)
		}
	}
	if help.Call("dance").Valid() {
		t.Error("a call outside the set counts as valid")
	}
}

func TestAnOperatorIsNamedOnce(t *testing.T) {
	for who, want := range map[string]string{"ada": "ada or an operator", "operator/op": "operator/op or another operator", "admin/ann": "admin/ann or an operator", "the owner of task t1": "the owner of task t1 or an operator"} {
		if got := help.OrOperator(who); got != want {
			t.Errorf("%s: %q, want %q", who, got, want)
		}
	}
}
