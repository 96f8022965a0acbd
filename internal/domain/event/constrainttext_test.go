package event_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/constrainttext"
)

func TestAConstraintWithoutAKindHasTheKindOfItsWords(t *testing.T) {
	for given, want := range map[string]string{
		"never push to main":               "prohibition:never push to main",
		"Don't use eval":                   "prohibition:Don't use eval",
		"be brief":                         "preference:be brief",
		"use https://example.com for docs": "preference:use https://example.com for docs",
		"note well: short names":           "preference:note well: short names",
		"security!: no keys in files":      "security!: no keys in files",
		"id-1=budget: 5 calls":             "id-1=budget: 5 calls",
		"id-1=Budget!: 5 calls":            "id-1=budget!: 5 calls",
		"PROHIBITION: pushing to main":     "prohibition: pushing to main",
		"Deadline: Friday":                 "preference:Deadline: Friday",
		"Production: read only":            "preference:Production: read only",
		"https://example.com has the rule": "preference:https://example.com has the rule",
		"Forbidden: to push":               "prohibition:Forbidden: to push",
	} {
		got, err := constrainttext.WithKinds([]string{given})
		if err != nil || got[0] != want {
			t.Errorf("%q is %+v, %v", given, got, err)
		}
	}
	for _, given := range []string{"prohibtion:never push", "Securty!: no keys", "rule!: no keys", "id=rule: no keys"} {
		if got, err := constrainttext.WithKinds([]string{given}); err == nil || !strings.Contains(err.Error(), "one of the kinds budget, security, format") {
			t.Errorf("a kind that is misspelled: %+v, %v", got, err)
		}
	}
	if got, err := constrainttext.WithKinds([]string{`{"kind": "budget", "text": "5 calls"}`}); err == nil || !strings.Contains(err.Error(), "write KIND:TEXT") {
		t.Errorf("an object is taken as a text: %+v, %v", got, err)
	}
	if got, err := constrainttext.WithKinds([]string{" "}); err != nil || got[0] != "" {
		t.Errorf("nothing is %+v, %v", got, err)
	}
}
