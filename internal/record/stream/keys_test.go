package stream_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// keyed takes the place under an idempotency key, which is the name of who takes it.
func keyed(t *testing.T, k stream.Kind[string, taken], by string) stream.Outcome[string] {
	t.Helper()
	w := stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}, Key: "key-" + by, Request: "take-" + by}
	out, err := k.Do(t.Context(), w, place, func(string, time.Time) ([]taken, error) { return []taken{{by}}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheNewestKeysAreRememberedAndTheOldestForgotten(t *testing.T) {
	const most = 5
	l := ledgertest.NewDouble(ledgertest.Faults{})
	here := remembering(t, l, most)
	first := map[string]ledger.Position{}
	for n := range 4 * most {
		name := fmt.Sprint("n", n)
		first[name] = keyed(t, here, name).At
		for _, k := range []stream.Kind[string, taken]{here, remembering(t, l, most)} { // with its cache, and read again
			for back := range min(n+1, most) {
				name := fmt.Sprint("n", n-back)
				if out := keyed(t, k, name); !out.Repeat || out.At != first[name] || *out.State != name {
					t.Fatalf("after %d calls, the %d. before the last: %+v", n+1, back, out)
				}
			}
		}
	}
	if out := keyed(t, here, "n0"); out.Repeat {
		t.Errorf("the first of %d is remembered: %+v", 4*most, out)
	}
}

func TestAStreamThatEndsRemembersAllItsKeys(t *testing.T) {
	k := node(t, ledgertest.NewDouble(ledgertest.Faults{}))
	at := keyed(t, k, "first").At
	for n := range 1000 {
		keyed(t, k, fmt.Sprint(n))
	}
	if out := keyed(t, k, "first"); !out.Repeat || out.At != at {
		t.Errorf("%+v", out)
	}
}

func TestAnotherRequestUnderARememberedKeyIsRefused(t *testing.T) {
	k := remembering(t, ledgertest.NewDouble(ledgertest.Faults{}), 3)
	keyed(t, k, "anna")
	w := stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}, Key: "key-anna", Request: "else"}
	_, err := k.Do(t.Context(), w, place, func(string, time.Time) ([]taken, error) { return []taken{{"bert"}}, nil })
	if refusal.CodeOf(err) != refusal.Conflict {
		t.Error(err)
	}
}

func TestARequestAsAnEarlierVersionRecordedItIsTheSame(t *testing.T) {
	k := remembering(t, ledgertest.NewDouble(ledgertest.Faults{}), 3)
	at := keyed(t, k, "anna").At
	take := func(string, time.Time) ([]taken, error) { return []taken{{"bert"}}, nil }
	w := stream.Write{Actor: ledger.Actor{Principal: "agent/anna"}, Key: "key-anna", Request: "as it is now", Before: "take-anna"}
	if out, err := k.Do(t.Context(), w, place, take); err != nil || !out.Repeat || out.At != at {
		t.Errorf("%+v, %v", out, err)
	}
	w.Before = "else"
	if _, err := k.Do(t.Context(), w, place, take); refusal.CodeOf(err) != refusal.Conflict {
		t.Error(err)
	}
}

func TestForgettingKeysCopiesNothing(t *testing.T) {
	bytes := func(most int) uint64 {
		k := remembering(t, ledgertest.NewDouble(ledgertest.Faults{}), most)
		for n := range 300 { // the larger bound is reached, too
			keyed(t, k, fmt.Sprint(n))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for n := range 300 {
			keyed(t, k, fmt.Sprint(300+n))
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := bytes(2), bytes(200)
	if many > few+few/2 {
		t.Errorf("300 calls allocate %d bytes where 2 keys are remembered and %d where 200 are", few, many)
	}
}
