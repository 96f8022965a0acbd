//go:build slow

package openai

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
)

// FuzzAnswer: whatever a model says is advice among what it was offered, or refused.
func FuzzAnswer(f *testing.F) {
	choices := []routing.Choice{{Agent: "zoe"}, {Capability: "billing"}}
	q, err := ask(Options{}, &policy.Situation{}, choices)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"action":"handoff","to":"agent:zoe","kind":"warm","reason":"specialization","why":"she knows","confidence":0.9}`)
	f.Add(`{"action":"handoff","to":"agent:eve","kind":"warm","reason":"specialization","why":"trust me","confidence":0.9}`)
	f.Add(`{"action":"keep","to":"keep","kind":"warm","reason":"user_request","why":"it goes well\u0000\n","confidence":1}`)
	f.Add(`{"action":"keep","why":"x","confidence":2}`)
	f.Add(`{}{}`)
	f.Fuzz(func(t *testing.T, content string) {
		got, err := q.read(content)
		if err != nil {
			if refusal.CodeOf(err) != refusal.Unavailable {
				t.Fatal(err)
			}
			return
		}
		offered := false
		for _, c := range choices {
			offered = offered || c.Agent == got.Agent && c.Capability == got.Capability
		}
		if got.HandOff != offered || got.Why == "" || len(got.Why) > maxWhy+8 || !(got.Confidence >= 0 && got.Confidence <= 1) || strings.ContainsAny(got.Why, "\x00\n") {
			t.Fatalf("%q: %+v", content, got)
		}
	})
}
