//go:build slow

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/content/foreign"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// imported is why no task can be made from an envelope; nil if one can.
func imported(doc []byte) error {
	t, _, err := foreign.Decode(doc, envelope.Converter{})
	if err != nil {
		return err
	}
	return cmp.Or(
		event.CheckText("the intent", t.Intent, event.MaxIntent), event.CheckNewConstraints(t.Constraints),
		task.CheckNewPermissions("a permission", t.Permissions, event.MaxPermissions), expect.New(expect.Options{}).CheckExpected(t.Expected),
	)
}

func TestTheSchemaRefusesWhatNoNewTaskCanHave(t *testing.T) {
	s := compiled(t)
	raw, err := os.ReadFile("../testdata/frozen/full-1.2.json")
	if err != nil {
		t.Fatal(err)
	}
	rule := func(fields map[string]any) map[string]any {
		rule := map[string]any{"id": "r", "kind": "format", "text": "The language of the answer."}
		maps.Copy(rule, fields)
		return map[string]any{"constraints": []any{rule}}
	}
	allow := func(list ...any) map[string]any { return rule(map[string]any{"allow": append([]any{}, list...)}) }
	permissions := func(list ...any) map[string]any {
		return map[string]any{"handoff.permissions": append([]any{}, list...)}
	}
	for name, c := range map[string]struct {
		set  map[string]any
		fine bool
	}{
		"no change":                    {nil, true},
		"a long intent":                {map[string]any{"task.intent": strings.Repeat("x", event.MaxIntent)}, true},
		"a longer intent":              {map[string]any{"task.intent": strings.Repeat("x", event.MaxIntent+1)}, false},
		"no permission":                {permissions(), true},
		"permissions":                  {permissions("refunds:write", "a.b", "..."), true},
		"a permission twice":           {permissions("write", "read", "write"), false},
		"none as a permission":         {permissions("None"), false},
		"a word that begins like none": {permissions("nonesuch", "no"), true},
		"a path as a permission":       {permissions("a/b"), false},
		"a wildcard as a permission":   {permissions("read*"), false},
		"a backslash in a permission":  {permissions(`a\b`), false},
		"a dot as a permission":        {permissions("."), false},
		"another script in permission": {permissions("wrіte"), false}, // U+0456
		"a long permission":            {permissions(strings.Repeat("x", 65)), false},
		"a rule":                       {rule(nil), true},
		"allowed values":               {allow("de", "zh-Hant", "日本"), true},
		"nothing allowed":              {allow(), true},
		"an allowed value twice":       {allow("de", "de"), false},
		"brackets in an allowed value": {allow("de]"), false},
		"a comma in an allowed value":  {allow("de,en"), false},
		"an unseen allowed value":      {allow("de\u200b"), false},
		"a long allowed value":         {allow(strings.Repeat("x", 65)), false},
		"a maximum":                    {rule(map[string]any{"max": 1e15}), true},
		"a maximum below zero":         {rule(map[string]any{"max": -1}), false},
		"a temperature below zero":     {rule(map[string]any{"max": -1, "kind": "preference"}), true},
		"a huge maximum":               {rule(map[string]any{"max": 1e16}), false},
		"a huge number of degrees":     {rule(map[string]any{"max": -1e16, "kind": "preference"}), false},
		"a text that cannot be seen":   {rule(map[string]any{"text": "\u200b\u2060"}), false},
		"joiners as a text":            {rule(map[string]any{"text": "\u200d\u200c "}), false},
		"a text with a line break":     {rule(map[string]any{"text": "one\ntwo"}), true},
	} {
		var doc map[string]any
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatal(err)
		}
		for path, value := range c.set {
			object, field, nested := strings.Cut(path, ".")
			if nested {
				doc[object].(map[string]any)[field] = value
			} else {
				doc[path] = value
			}
		}
		changed, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(changed))
		if err != nil {
			t.Fatal(err)
		}
		if no := imported(changed); (no == nil) != c.fine {
			t.Errorf("%s: the import says %v", name, no)
		}
		if no := s.Validate(v); (no == nil) != c.fine {
			t.Errorf("%s: the schema says %v", name, no)
		}
	}
}
