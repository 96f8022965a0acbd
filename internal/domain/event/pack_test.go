package event_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestAPackIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		pack event.Pack
		want refusal.Code
	}{
		"nothing said":         {event.Pack{}, ""},
		"the most of all":      {event.Pack{Tokens: event.MaxPackTokens, Strategy: "summary_refs", Pinned: slices.Repeat([]string{strings.Repeat("x", event.MaxPin)}, event.MaxPinned)}, ""},
		"fewer than no tokens": {event.Pack{Tokens: -1}, refusal.Invalid},
		"too many tokens":      {event.Pack{Tokens: event.MaxPackTokens + 1}, refusal.Invalid},
		"an unknown strategy":  {event.Pack{Strategy: "luck"}, refusal.Invalid},
		"too many pins":        {event.Pack{Pinned: slices.Repeat([]string{"f1"}, event.MaxPinned+1)}, refusal.TooLarge},
		"too long a pin":       {event.Pack{Pinned: []string{strings.Repeat("x", event.MaxPin+1)}}, refusal.TooLarge},
		"an empty pin":         {event.Pack{Pinned: []string{""}}, refusal.Invalid},
		"a pin that is none":   {event.Pack{Pinned: []string{"\xff"}}, refusal.Invalid},
	} {
		if got := refusal.CodeOf(c.pack.Check()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestARenditionHasBytesASourceAndFigures(t *testing.T) {
	for name, change := range map[string]func(*event.Rendered){
		"no bytes":              func(e *event.Rendered) { e.Bytes = nil },
		"no digest":             func(e *event.Rendered) { e.Digest = "" },
		"its source":            func(e *event.Rendered) { e.Digest = e.Source },
		"bytes of its source":   func(e *event.Rendered) { e.Digest, e.Parent = e.Source, "" },
		"its source in part":    func(e *event.Rendered) { e.Digest, e.Parent, e.Bytes, e.Omitted = e.Source, "", nil, 1 },
		"another parent":        func(e *event.Rendered) { e.Parent = "sha256:3" },
		"no number":             func(e *event.Rendered) { e.Utilisation = math.NaN() },
		"no end":                func(e *event.Rendered) { e.Completeness = math.Inf(1) },
		"fewer than no tokens":  func(e *event.Rendered) { e.Tokens = -1 },
		"less than no fullness": func(e *event.Rendered) { e.Completeness = -0.1 },
	} {
		if err := (event.Rendered{Source: "sha256:1", Digest: "sha256:1", Tokens: 7, Completeness: 1}).Check(); err != nil {
			t.Fatalf("an envelope that fits as it is: %v", err)
		}
		e := event.Rendered{Source: "sha256:1", Digest: "sha256:2", Parent: "sha256:1", Bytes: json.RawMessage(`{}`), Utilisation: 0.4, Completeness: 1}
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		change(&e)
		if err := e.Check(); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
