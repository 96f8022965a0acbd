//go:build slow

package mcpapi

import (
	"encoding/json"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// Every token of a tool's description is paid for on every turn of every agent that is connected.
const (
	mostTools        = 16
	mostTokens       = 4000 // of names, descriptions and input schemas
	mostWorkerTokens = 1200
	mostOutputTokens = 2000 // of output schemas
)

func TestToolsCostFewTokens(t *testing.T) {
	if usual := specs(toolset.Set{}); len(usual) > mostTools {
		t.Errorf("there are %d tools, at most %d are allowed", len(usual), mostTools)
	}
	count := counter(t)
	in, out := 0, 0
	for _, spec := range specs(toolset.Set{}) {
		i, o := count(spec.Name)+count(spec.Description)+count(text(t, spec.InputSchema)), count(text(t, spec.OutputSchema))
		t.Logf("%-13s %4d in %4d out", spec.Name, i, o)
		in, out = in+i, out+o
	}
	t.Logf("all: %d in, %d out; instructions %d", in, out, count(instructions(toolset.Set{})))
	worker, err := toolset.New("", "worker")
	if err != nil {
		t.Fatal(err)
	}
	few := 0
	for _, spec := range specs(worker) {
		few += count(spec.Name) + count(spec.Description) + count(text(t, spec.InputSchema))
	}
	if t.Logf("worker: %d in", few); few > mostWorkerTokens {
		t.Errorf("the set worker has %d tokens, at most %d are allowed", few, mostWorkerTokens)
	}
	if in > mostTokens {
		t.Errorf("names, descriptions and input schemas have %d tokens, at most %d are allowed", in, mostTokens)
	}
	if out > mostOutputTokens {
		t.Errorf("output schemas have %d tokens, at most %d are allowed", out, mostOutputTokens)
	}
}

func counter(t *testing.T) func(string) int {
	t.Helper()
	c, err := tokenizer.For("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	return c.Count
}

func text(t *testing.T, schema any) string {
	t.Helper()
	b, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
