package httpapi_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/trapezehq/trapeze/internal/surface/httpapi"
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
		t.Error("docs/openapi.json is not what the server serves: run go generate ./internal/surface/httpapi and commit the result")
	}
}
