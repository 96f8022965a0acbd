package stream_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/stream"
)

type taken struct {
	By string `json:"by"`
}

func (taken) EventName() string { return "taken" }

// node is one of several servers over a ledger, each with a cache of its own.
func node(t *testing.T, l ledger.Ledger) *stream.Kind[string, taken] {
	t.Helper()
	k, err := stream.New("task", l, func(_ string, e taken) string { return e.By }, time.Now, 10, []taken{{}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const place ledger.Stream = "default/task/one"

func do(t *testing.T, k *stream.Kind[string, taken], decide func(string) ([]taken, error)) (string, error) {
	t.Helper()
	w := stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}}
	out, err := k.Do(t.Context(), w, place, func(s string, _ time.Time) ([]taken, error) { return decide(s) })
	return out.State, err
}

func take(by string) func(string) ([]taken, error) {
	return func(string) ([]taken, error) { return []taken{{by}}, nil }
}

func TestNoNodeAnswersFromAStaleCache(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	one, two := node(t, l), node(t, l)
	if _, err := do(t, one, take("anna")); err != nil {
		t.Fatal(err)
	}
	if _, err := do(t, two, take("bert")); err != nil { // which one has not heard of
		t.Fatal(err)
	}
	nothing := func(string) ([]taken, error) { return nil, nil }
	if s, err := do(t, one, nothing); s != "bert" || err != nil {
		t.Errorf("a call that changes nothing: %q has it, %v", s, err)
	}
	if _, err := do(t, two, take("cleo")); err != nil {
		t.Fatal(err)
	}
	only := func(s string) ([]taken, error) {
		if s != "cleo" {
			return nil, refusal.New(refusal.Conflict, "wait", "%s has it", s)
		}
		return []taken{{"dora"}}, nil
	}
	if s, err := do(t, one, only); s != "dora" || err != nil {
		t.Errorf("a call that is allowed: %q has it, %v", s, err)
	}
}
