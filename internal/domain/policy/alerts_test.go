package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/policy"
)

func TestAPolicyChangesAlertsAndSwitchesThemOff(t *testing.T) {
	p, problems := policy.Parse("policy.yaml", []byte(`version: 1
alerts:
  handoff-failure-rate: {threshold: 0.01, window: 2h}
  dead-letters: {threshold: 10, for: 0s}
  context-incomplete: {for: 30m}
  budgets-unused: off
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	list, off := alert.InForce(p.AlertChanges())
	if len(off) != 1 || off[0] != "budgets-unused" || len(list) != len(alert.Definitions())-1 {
		t.Errorf("off: %q", off)
	}
	for _, d := range list {
		was, _ := alert.Find(d.Name)
		switch d.Name {
		case "handoff-failure-rate":
			if d.Threshold != 0.01 || d.Window != 2*time.Hour || !strings.HasPrefix(d.Meaning(), "More than 1 % of the handoffs of the last 2 hours failed: 2 or more, of 20 or more that ended. ") {
				t.Errorf("%+v", d)
			}
		case "dead-letters":
			if d.Threshold != 10 || d.For != 0 {
				t.Errorf("%+v", d)
			}
		case "context-incomplete":
			if d.For != 30*time.Minute || d.Threshold != was.Threshold {
				t.Errorf("%+v", d)
			}
		default:
			if d.Threshold != was.Threshold || d.Window != was.Window || d.For != was.For {
				t.Errorf("%+v", d)
			}
		}
	}
	var none *policy.Policy
	if len(none.AlertChanges()) != 0 {
		t.Error("no policy changes alerts")
	}
}

func TestNonsenseAboutAlertsIsRefusedWithAHint(t *testing.T) {
	for text, want := range map[string]string{
		"agent-sleeps: off":                        "there is no alert",
		"agent-fails: {}":                          "nothing is changed",
		"agent-fails: on":                          "mapping",
		"agent-fails: {threshold: 0}":              "from 1 to 100",
		"agent-fails: {threshold: 2.5}":            "whole number",
		"agent-fails: {threshold: .nan}":           "out of bounds",
		"agent-fails: {threshold: -.inf}":          "out of bounds",
		"agent-fails: {window: 1h}":                "has no window",
		"agent-fails: {for: 1h}":                   "raised at once",
		"circuit-open: {threshold: 2}":             "cannot be changed",
		"handoff-failure-rate: {threshold: 2}":     "2 % is 0.02",
		"handoff-failure-rate: {threshold: 0.5 %}": "not a number",
		"handoff-failure-rate: {window: 0s}":       "1m to 24h",
		"handoff-failure-rate: {window: 25h}":      "1m to 24h",
		"handoff-failure-rate: {window: 90s}":      "1m to 24h",
		"handoff-failure-rate: {window: -1h}":      "1m to 24h",
		"handoff-failure-rate: {threshold: 0.1}":   "handoffs-fail-systemically (critical) would be raised before",
		"context-lost: {threshold: 0.99}":          "context-lost (critical) would be raised before context-incomplete (warning)",
		"dead-letters: {for: 7h}":                  "0s to 6h",
		"dead-letters: {for: -1s}":                 "0s to 6h",
		"dead-letters: {limit: 7}":                 "use one of threshold, window, for",
		"dead-letters: {threshold: many}":          "not a number",
		"dead-letters: [off]":                      "mapping",
	} {
		_, problems := policy.Parse("policy.yaml", []byte("version: 1\nalerts:\n  "+text+"\n"))
		if len(problems) == 0 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%s: %v", text, problems)
		} else if problems[0].Line != 3 || problems[0].Hint == "" && want != "not a number" {
			t.Errorf("%s: line %d, hint %q", text, problems[0].Line, problems[0].Hint)
		}
	}
	if _, problems := policy.Parse("policy.yaml", []byte("version: 1\nalerts:\n  handoff-failure-rate: {threshold: 0.1}\n  handoffs-fail-systemically: off\n")); len(problems) > 0 {
		t.Error(problems)
	}
}
