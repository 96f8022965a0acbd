package event

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestAPackIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		pack Pack
		want refusal.Code
	}{
		"nothing said":         {Pack{}, ""},
		"the most of all":      {Pack{Tokens: MaxPackTokens, Strategy: "summary_refs", Pinned: slices.Repeat([]string{strings.Repeat("x", MaxPin)}, MaxPinned)}, ""},
		"fewer than no tokens": {Pack{Tokens: -1}, refusal.Invalid},
		"too many tokens":      {Pack{Tokens: MaxPackTokens + 1}, refusal.Invalid},
		"an unknown strategy":  {Pack{Strategy: "luck"}, refusal.Invalid},
		"too many pins":        {Pack{Pinned: slices.Repeat([]string{"f1"}, MaxPinned+1)}, refusal.TooLarge},
		"too long a pin":       {Pack{Pinned: []string{strings.Repeat("x", MaxPin+1)}}, refusal.TooLarge},
		"an empty pin":         {Pack{Pinned: []string{""}}, refusal.Invalid},
		"a pin that is none":   {Pack{Pinned: []string{"\xff"}}, refusal.Invalid},
	} {
		if got := refusal.CodeOf(c.pack.Check()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestARenditionHasBytesASourceAndFigures(t *testing.T) {
	for name, change := range map[string]func(*Rendered){
		"no bytes":              func(e *Rendered) { e.Bytes = nil },
		"no digest":             func(e *Rendered) { e.Digest = "" },
		"its source":            func(e *Rendered) { e.Digest = e.Source },
		"bytes of its source":   func(e *Rendered) { e.Digest, e.Parent = e.Source, "" },
		"its source in part":    func(e *Rendered) { e.Digest, e.Parent, e.Bytes, e.Omitted = e.Source, "", nil, 1 },
		"another parent":        func(e *Rendered) { e.Parent = "sha256:3" },
		"no number":             func(e *Rendered) { e.Utilisation = math.NaN() },
		"no end":                func(e *Rendered) { e.Completeness = math.Inf(1) },
		"fewer than no tokens":  func(e *Rendered) { e.Tokens = -1 },
		"less than no fullness": func(e *Rendered) { e.Completeness = -0.1 },
	} {
		if err := (Rendered{Source: "sha256:1", Digest: "sha256:1", Tokens: 7, Completeness: 1}).Check(); err != nil {
			t.Fatalf("an envelope that fits as it is: %v", err)
		}
		e := Rendered{Source: "sha256:1", Digest: "sha256:2", Parent: "sha256:1", Bytes: json.RawMessage(`{}`), Utilisation: 0.4, Completeness: 1}
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		change(&e)
		if err := e.Check(); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
