//go:build slow

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/trapezehq/trapeze/internal/domain/policy"
)

const docs = "../../../../docs"

func TestThePublishedFilesAreWhatTheTypesSay(t *testing.T) {
	dir := t.TempDir()
	if err := write(docs, dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"policy.md", "policy.schema.json"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not up to date (%v): run go generate ./internal/domain/policy/schemadoc", name, err)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource(schemaID, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// examples are the policies that the page shows.
func examples(t *testing.T) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs, "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "```yaml\n")[1:] {
		if example, _, _ := strings.Cut(part, "```"); strings.Contains(example, "version: 1") {
			list = append(list, example)
		}
	}
	return list
}

func TestThePagesExamplesAreGoodPolicies(t *testing.T) {
	s, all := compiled(t), examples(t)
	if len(all) == 0 {
		t.Fatal("the page shows no policy")
	}
	for _, text := range all {
		if _, problems := policy.Parse("policy.md", []byte(text)); len(problems) > 0 {
			t.Error(problems.Err())
		}
		if err := valid(t, s, text); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatTheSchemaRefusesTheParserRefusesToo(t *testing.T) {
	s := compiled(t)
	for _, text := range []string{
		"{}", "version: 2", "version: 1\nrule: []", "version: 1\nrules: [{name: a}]", "version: 1\nrules: [{name: A, then: keep}]",
		"version: 1\nrules: [{name: a, then: stay}]", "version: 1\nrules: [{name: a, then: {to: {}}}]",
		"version: 1\nrules: [{name: a, then: {to: {agent: a, human: b}}}]", "version: 1\nrules: [{name: a, then: {to: {agent: a}, kind: hot}}]",
		"version: 1\nrules: [{name: a, when: {confidence_below: 0}, then: keep}]", "version: 1\nrules: [{name: a, when: {tags: []}, then: keep}]",
		"version: 1\nrules: [{name: a, when: {steps_above: -1}, then: keep}]", "version: 1\nrules: [{name: a, when: {elapsed_above: soon}, then: keep}]",
		"version: 1\nrules: [{name: a, then: {to: {agent: a}, pack: {strategy: zip}}}]",
		"version: 1\nchains: {c: [{human: a, agent: b}]}", "version: 1\nchains: {C: [{human: a}]}", "version: 1\nfallbacks: {a: b}",
		"version: 1\nescalation: {default: 1}",
	} {
		if valid(t, s, text) == nil {
			t.Errorf("the schema takes %q", text)
		}
		if _, problems := policy.Parse("p.yaml", []byte(text)); len(problems) == 0 {
			t.Errorf("the parser takes %q", text)
		}
	}
}

// TestTheSchemaAndTheParserKnowTheSameFields gives the parser each field of the schema, and one more, at each place.
func TestTheSchemaAndTheParserKnowTheSameFields(t *testing.T) {
	for name, around := range map[string]string{
		"Policy": "%s", "Rule": "rules: [%s]", "When": "rules: [{when: %s}]", "Then": "rules: [{then: %s}]", "Target": "rules: [{then: {to: %s}}]",
		"Pack": "rules: [{then: {pack: %s}}]", "Level": "chains: {c: [%s]}", "Escalation": "escalation: %s",
	} {
		var fields []string
		for _, o := range objects {
			if o.of.Name() == name {
				for _, m := range members(o.of) {
					fields = append(fields, m.name+": ")
				}
			}
		}
		body := "{" + strings.Join(append(fields, "more: "), ", ") + "}"
		_, problems := policy.Parse("p.yaml", []byte(strings.Replace(around, "%s", body, 1)))
		unknown := 0
		for _, p := range problems {
			if strings.HasPrefix(p.Reason, "there is no field") {
				unknown++
			}
		}
		if unknown != 1 || len(fields) == 0 {
			t.Errorf("%s: %d unknown fields: %v", name, unknown, problems)
		}
	}
}
