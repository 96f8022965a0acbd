package httpapi_test

import (
	"encoding/json"
	"flag"
	"iter"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

func TestDocsShowWhatTheServerServes(t *testing.T) {
	const file = "../../../docs/openapi.json"
	h := open(t, httpapi.Options{})
	got := h.call("", "GET /openapi.json", "")
	if got.status != 200 || !json.Valid([]byte(got.body)) {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got.body {
		t.Error("docs/openapi.json is not what the server serves: run go generate ./internal/api/httpapi and commit the result")
	}
}

// description is what a test needs of an OpenAPI document.
type description struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		OperationID string
		Summary     string
		Description string
		Tags        []string
		Security    []map[string][]string
		Responses   map[string]struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	Components struct {
		Schemas         map[string]map[string]any
		SecuritySchemes map[string]map[string]any
	}
	Tags []struct{ Name string }
}

func describe(t testing.TB, h *harness) description {
	t.Helper()
	var d description
	if err := json.Unmarshal([]byte(h.call("", "GET /openapi.json", "").body), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// parameter matches a parameter in a path of the description.
var parameter = regexp.MustCompile(`\{[a-z]+\}`)

// operations are all that can be called, as "POST /v1/tasks/x/send".
func operations(t testing.TB, h *harness) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path, item := range describe(t, h).Paths {
			for method := range item {
				if !yield(strings.ToUpper(method) + " " + parameter.ReplaceAllString(path, "x")) {
					return
				}
			}
		}
	}
}

func TestEveryRouteIsDocumented(t *testing.T) {
	h := open(t, httpapi.Options{})
	d := describe(t, h)
	if !strings.HasPrefix(d.OpenAPI, "3.1") || d.Components.SecuritySchemes["token"]["scheme"] != "bearer" {
		t.Errorf("%s %v", d.OpenAPI, d.Components.SecuritySchemes)
	}
	ids, tags := map[string]bool{}, map[string]bool{}
	for _, tag := range d.Tags {
		tags[tag.Name] = true
	}
	count := 0
	for path, item := range d.Paths {
		for method, op := range item {
			count++
			problem := op.Responses["default"].Content["application/problem+json"].Schema["$ref"]
			if op.Summary == "" || len(op.Security) == 0 || problem != "#/components/schemas/Problem" || len(op.Tags) != 1 || !tags[op.Tags[0]] {
				t.Errorf("%s %s: %+v", method, path, op)
			}
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s %s: the operation id %q is missing or taken", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
	if count != 127 {
		t.Errorf("%d routes are documented", count)
	}
}

func TestWhatIsSentIsStrictAndWhatIsAnsweredMayGrow(t *testing.T) {
	schemas := describe(t, open(t, httpapi.Options{})).Components.Schemas
	for name, strict := range map[string]bool{"CreateInput": true, "Content": true, "Timeouts": true, "Receipt": false, "Task": false, "Problem": false} {
		if _, got := schemas[name]["additionalProperties"]; got != strict {
			t.Errorf("%s: strict is %v", name, got)
		}
	}
	if _, there := schemas["SendInput"]["properties"].(map[string]any)["task"]; there {
		t.Error("a body names the task that the path names")
	}
}

func TestTheDocsPageNeedsNobodyElse(t *testing.T) {
	h := open(t, httpapi.Options{})
	page := h.call("", "GET /docs", "")
	if page.status != 200 || !strings.Contains(page.header.Get("Content-Security-Policy"), "default-src 'self'") {
		t.Fatal(page)
	}
	if strings.Contains(page.body, "//") || strings.Contains(page.body, "style=") || regexp.MustCompile(`<script>|\son\w+=`).MatchString(page.body) {
		t.Error("the page has something that its policy forbids")
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="(/[^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		if r := h.call("", "GET "+m[1], ""); r.status != 200 {
			t.Errorf("%s: %d", m[1], r.status)
		}
	}
}
