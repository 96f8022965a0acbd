package mcpapi_test

import (
	"maps"
	"testing"
)

// Models in strict mode fill every field. What they fill with null or "" counts as omitted, in every tool.
func TestToolsTakeNullAndEmptyForWhatIsOmitted(t *testing.T) {
	calls := map[string]func(own, offered string) m{
		"join":         func(_, _ string) m { return m{} },
		"inbox":        func(_, _ string) m { return m{} },
		"send":         func(_, _ string) m { return m{"intent": "Write another"} },
		"accept":       func(_, offered string) m { return m{"handoff": offered} },
		"reject":       func(_, offered string) m { return m{"handoff": offered, "why": "overloaded"} },
		"progress":     func(own, _ string) m { return m{"task": own, "note": "half of it"} },
		"complete":     func(own, _ string) m { return m{"task": own, "text": "done"} },
		"status":       func(own, _ string) m { return m{"id": own} },
		"ask":          func(own, _ string) m { return m{"task": own, "question": "Which one?", "wait": 0.0} },
		"escalate":     func(own, _ string) m { return m{"task": own, "detail": "too hard"} },
		"cancel":       func(own, _ string) m { return m{"id": own, "why": "not needed"} },
		"remember":     func(_, _ string) m { return m{"text": "the grammar is in docs"} },
		"recall":       func(_, _ string) m { return m{"query": "grammar"} },
		"route":        func(own, _ string) m { return m{"task": own} },
		"conversation": func(_, _ string) m { return m{"id": "talk"} },
		"decide":       func(own, _ string) m { return m{"id": own + ".h1", "verdict": "approve"} },
	}
	for tool, args := range calls {
		t.Run(tool, func(t *testing.T) {
			omitted, refused := filled(t, tool, args, nil, false)
			for name, with := range map[string]any{"null": nil, `""`: ""} {
				if text, no := filled(t, tool, args, with, true); no != refused {
					t.Errorf("with %s for what is omitted: refused %t: %s\nomitted: refused %t: %s", name, no, text, refused, omitted)
				}
			}
		})
	}
	tools, err := open(t).agent(statelessVersion, "coder").ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tools.Tools {
		if calls[x.Name] == nil {
			t.Errorf("%s has no call here", x.Name)
		}
	}
}

// filled calls a tool as an agent that owns a task and is offered another, with a value for each argument that the call omits.
func filled(t *testing.T, tool string, args func(own, offered string) m, with any, fill bool) (text string, refused bool) {
	t.Helper()
	h := open(t)
	coder, lead := h.agent(statelessVersion, "coder"), h.agent(statelessVersion, "lead")
	_, own := coder.call("send", m{"intent": "Write the parser"})
	_, offer := lead.call("send", m{"intent": "Review the parser", "to": "coder"})
	call := maps.Clone(args(own["task"].(string), offer["handoff"].(string)))
	tools, err := coder.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tools.Tools {
		if x.Name != tool || !fill {
			continue
		}
		for name := range x.InputSchema.(m)["properties"].(m) {
			if _, there := call[name]; !there {
				call[name] = with
			}
		}
	}
	text, _, refused = coder.try(tool, call)
	return text, refused
}
