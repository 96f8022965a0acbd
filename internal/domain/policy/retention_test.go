package policy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/policy"
)

func TestRulesOfRetentionAreRead(t *testing.T) {
	p, problems := policy.Parse("policy.yaml", []byte("version: 1\nretention:\n  - tag: patient-4711\n    kind: task\n    at_least_days: 30\n    at_most_days: 60\n  - at_most_days: 365\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	const day = 24 * time.Hour
	want := erasure.Retentions{{Kind: erasure.Task, Tag: "patient-4711", Least: 30 * day, Most: 60 * day}, {Most: 365 * day}}
	if got := p.Retentions(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestBadRulesOfRetentionAreProblems(t *testing.T) {
	for rule, want := range map[string]string{
		"{}":                                    "nothing is said",
		"{at_least_days: 0}":                    "out of bounds",
		"{at_most_days: -1}":                    "out of bounds",
		"{at_most_days: 40000}":                 "out of bounds",
		"{at_most_days: 1.5}":                   "1.5",
		"{at_least_days: 9, at_most_days: 8}":   "before it may be",
		"{kind: envelope, at_most_days: 8}":     "not a kind of content",
		"{tag: 'no label\\n', at_most_days: 8}": "tag",
		"{tag: '', at_most_days: 8}":            "tag",
		"{kind: '', at_most_days: 8}":           "the text is empty",
		"{label: x, at_most_days: 8}":           "label",
	} {
		_, problems := policy.Parse("policy.yaml", []byte("version: 1\nretention:\n  - "+rule+"\n"))
		if len(problems) == 0 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%s: %v, want %q", rule, problems, want)
		}
	}
}
