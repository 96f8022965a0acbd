package refusal_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestEveryCodeIsValidAndListedOnce(t *testing.T) {
	seen := map[refusal.Code]bool{}
	for _, c := range refusal.Codes() {
		if !c.Valid() || seen[c] {
			t.Errorf("code %q: valid %v, seen before %v", c, c.Valid(), seen[c])
		}
		seen[c] = true
	}
	if len(seen) != 15 {
		t.Errorf("%d codes, the design names 15", len(seen))
	}
	if refusal.Code("teapot").Valid() {
		t.Error("a code outside the set counts as valid")
	}
}

func TestChangingTheListOfCodesDoesNotChangeTheSet(t *testing.T) {
	refusal.Codes()[0] = "teapot"
	if refusal.Codes()[0] != refusal.Unauthenticated {
		t.Error("a caller changed the closed set")
	}
}

func TestARefusalSaysWhyAndWhatToDoNext(t *testing.T) {
	r := refusal.New(refusal.NotOwner, "ask the owner", "task %s belongs to %s", "t1", "writer")
	if got, want := r.Error(), "not_owner: task t1 belongs to writer (ask the owner)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := refusal.New(refusal.Expired, "", "too late").Error(), "expired: too late"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARefusalIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("accept: %w", refusal.New(refusal.StaleEpoch, "read again", "epoch 3 is over"))
	if got := refusal.CodeOf(err); got != refusal.StaleEpoch {
		t.Errorf("code %q", got)
	}
	if !errors.Is(err, &refusal.Error{Code: refusal.StaleEpoch}) {
		t.Error("errors.Is does not see the code")
	}
	if errors.Is(err, &refusal.Error{Code: refusal.Limit}) {
		t.Error("errors.Is sees a code that is not there")
	}
	if got := refusal.CodeOf(errors.New("disk")); got != "" {
		t.Errorf("an ordinary error has code %q", got)
	}
}

func TestAddingADetailLeavesTheOriginalAlone(t *testing.T) {
	one := refusal.New(refusal.Limit, "", "hop limit").With("hops", 10)
	two := one.With("limit", 10)
	if len(one.Details) != 1 || len(two.Details) != 2 {
		t.Errorf("details: %v and %v", one.Details, two.Details)
	}
}

func TestAFieldIsNamedWithWhereItIs(t *testing.T) {
	err := refusal.In("pack", refusal.In("pinned", refusal.New(refusal.Invalid, "", "a pin is empty")))
	if r, ok := refusal.As(err); !ok || r.Details["field"] != "pack.pinned" {
		t.Errorf("%+v", err)
	}
	if refusal.In("pack", nil) != nil {
		t.Error("what was not refused is refused")
	}
	if other := errors.New("disk"); refusal.In("pack", other) != other { //nolint:errorlint // the same error
		t.Error("another error is changed")
	}
}
