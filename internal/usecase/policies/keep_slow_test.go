//go:build slow

package policies

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/policy"
)

func parsed(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, problems := policy.Parse("policy.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

func TestAPolicyThatTookLongToReadReplacesNoNewerOne(t *testing.T) {
	b := &Store{parsed: map[string]read{}}
	older := parsed(t, "version: 1\nrules: [{name: a, when: {tags: [x]}, then: keep}]\n")
	newer := parsed(t, "version: 1\nrules: [{name: b, when: {tags: [x]}, then: keep}]\n")
	b.keep("default", read{newer, 7})
	b.keep("default", read{older, 3})
	if got := b.InMemory("default"); got != newer {
		t.Errorf("%+v", got.Rules)
	}
	b.keep("default", read{older, 9}) // which came into force again
	if got := b.InMemory("default"); got != older {
		t.Errorf("%+v", got.Rules)
	}
}
