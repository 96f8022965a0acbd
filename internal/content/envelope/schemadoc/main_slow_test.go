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
)

func TestThePublishedFilesAreWhatTheTypesSay(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"envelope.md", "envelope.schema.json"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not up to date (%v): run go generate ./internal/content/envelope/schemadoc", name, err)
		}
	}
}

func TestEveryFieldIsExplainedAndNoOther(t *testing.T) {
	there := map[string]bool{}
	for _, o := range objects {
		for _, m := range members(o.of) {
			there[m.key] = true
			if f := fields[m.key]; f.doc == "" {
				t.Errorf("%s is not explained", m.key)
			}
		}
	}
	for key := range fields {
		if !there[key] {
			t.Errorf("%s is explained but is no field", key)
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
	c.AssertFormat()
	if err := c.AddResource(schemaID, doc); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile(schemaID)
}

func TestFrozenEnvelopesFollowTheSchema(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("../testdata/frozen/*.json")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSchemaRefusesWhatIsWrong(t *testing.T) {
	s := compiled(t)
	raw, err := os.ReadFile("../testdata/frozen/full-1.1.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"another major":        {`"version":"1.1"`, `"version":"2.0"`},
		"no version":           {`,"version":"1.1"`, `,"vision":"1.1"`},
		"no intent":            {`"intent":`, `"intend":`},
		"an unknown priority":  {`"priority":"high"`, `"priority":"super"`},
		"an unknown strategy":  {`"strategy":"priority"`, `"strategy":"hope"`},
		"much confidence":      {`"confidence":0.55`, `"confidence":55`},
		"a time in words":      {`"created_at":"2026`, `"created_at":"about 2026`},
		"a parent of no hash":  {`"parent":"sha256:`, `"parent":"md5:`},
		"a fact without id":    {`"id":"f1"`, `"no":"f1"`},
		"a number for a text":  {`"text":"Both`, `"text":5,"was":"Both`},
		"a name with a space":  {`"from":"support-tier1"`, `"from":"support tier1"`},
		"an unknown reason":    {`"reason":"forgotten"`, `"reason":"mislaid"`},
		"a schema that is not": {`"schema":{`, `"schema":[],"other":{`},
	} {
		changed := strings.Replace(string(raw), change[0], change[1], 1)
		if changed == string(raw) {
			t.Fatalf("%s: nothing to change", name)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
		if err != nil {
			t.Fatal(name, err)
		}
		if s.Validate(v) == nil {
			t.Errorf("%s: the schema takes it", name)
		}
	}
}

func TestTheSchemaIsWellFormed(t *testing.T) {
	raw, err := schema()
	if err != nil || !json.Valid(raw) || bytes.Contains(raw, []byte("null")) {
		t.Errorf("%v: %s", err, raw)
	}
}
