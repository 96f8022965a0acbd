package stream_test

import (
	"slices"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

type taken struct {
	By string `json:"by"`
}

func (taken) EventName() string { return "taken" }

// node is one of several servers over a ledger, each with a cache of its own.
func node(t *testing.T, l ledger.Ledger) stream.Kind[string, taken] {
	t.Helper()
	return remembering(t, l, 0)
}

// remembering is a node that remembers so many keys; 0: all.
func remembering(t *testing.T, l ledger.Ledger, keys int) stream.Kind[string, taken] {
	t.Helper()
	k, err := stream.New("task", l, func(_ string, e taken) string { return e.By }, time.Now, []taken{{}}, stream.Options[string, taken]{Cached: 10, Remember: keys})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const place ledger.Stream = "default/task/one"

func do(t *testing.T, k stream.Kind[string, taken], decide func(string) ([]taken, error)) (string, error) {
	t.Helper()
	w := stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}}
	out, err := k.Do(t.Context(), w, place, func(s string, _ time.Time) ([]taken, error) { return decide(s) })
	if out.State == nil {
		return "", err
	}
	return *out.State, err
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

func TestARefusalIsDecidedAgainOnlyOnANewerState(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	one, two := node(t, l), node(t, l)
	refused := refusal.New(refusal.Conflict, "", "it is taken")
	wantDecisions := func(when string, want ...string) {
		t.Helper()
		var on []string
		state, err := do(t, one, func(s string) ([]taken, error) { on = append(on, s); return nil, refused })
		if !slices.Equal(on, want) || state != want[len(want)-1] || err != error(refused) { //nolint:errorlint // the very same
			t.Errorf("%s: decided on %q, and answered %q, %v; want %q", when, on, state, err, want)
		}
	}
	wantDecisions("nothing is there", "")
	if _, err := do(t, one, take("anna")); err != nil {
		t.Fatal(err)
	}
	wantDecisions("the cache has the newest state", "anna")
	if _, err := do(t, two, take("bert")); err != nil {
		t.Fatal(err)
	}
	wantDecisions("the cache is stale", "anna", "bert")
}

func TestAFollowerFoldsTheEntryThatItWasShown(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	writer := node(t, l)
	for _, name := range []string{"anna", "bert", "cleo"} {
		if _, err := do(t, writer, take(name)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := l.Read(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	at := func(k stream.Kind[string, taken], n int) string {
		t.Helper()
		f, err := k.LoadAt(t.Context(), entries[n])
		if err != nil {
			t.Fatal(err)
		}
		return f.State
	}
	follower := node(t, l)
	if a, b := at(follower, 0), at(follower, 1); a != "anna" || b != "bert" {
		t.Errorf("one after the other: %s, then %s", a, b)
	}
	if s := at(follower, 0); s != "bert" {
		t.Errorf("an older one again: %s", s)
	}
	if s := at(node(t, l), 1); s != "cleo" { // what is between is read, and so is what follows
		t.Errorf("one that does not follow: %s", s)
	}
	if s := at(writer, 2); s != "cleo" {
		t.Errorf("for its writer: %s", s)
	}
}
