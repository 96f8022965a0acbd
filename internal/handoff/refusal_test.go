package handoff_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/internal/handoff"
)

func TestEveryCodeIsValidAndListedOnce(t *testing.T) {
	seen := map[handoff.Code]bool{}
	for _, c := range handoff.Codes() {
		if !c.Valid() || seen[c] {
			t.Errorf("code %q: valid %v, seen before %v", c, c.Valid(), seen[c])
		}
		seen[c] = true
	}
	if len(seen) != 14 {
		t.Errorf("%d codes, the design names 14", len(seen))
	}
	if handoff.Code("teapot").Valid() {
		t.Error("a code outside the set counts as valid")
	}
}

func TestChangingTheListOfCodesDoesNotChangeTheSet(t *testing.T) {
	handoff.Codes()[0] = "teapot"
	if handoff.Codes()[0] != handoff.CodeUnauthenticated {
		t.Error("a caller changed the closed set")
	}
}

func TestARefusalSaysWhyAndWhatToDoNext(t *testing.T) {
	r := handoff.Refuse(handoff.CodeNotOwner, "ask the owner", "task %s belongs to %s", "t1", "writer")
	if got, want := r.Error(), "not_owner: task t1 belongs to writer (ask the owner)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := handoff.Refuse(handoff.CodeExpired, "", "too late").Error(), "expired: too late"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestARefusalIsFoundThroughWrapping(t *testing.T) {
	err := fmt.Errorf("accept: %w", handoff.Refuse(handoff.CodeStaleEpoch, "read again", "epoch 3 is over"))
	if got := handoff.CodeOf(err); got != handoff.CodeStaleEpoch {
		t.Errorf("code %q", got)
	}
	if !errors.Is(err, &handoff.Refusal{Code: handoff.CodeStaleEpoch}) {
		t.Error("errors.Is does not see the code")
	}
	if errors.Is(err, &handoff.Refusal{Code: handoff.CodeLimit}) {
		t.Error("errors.Is sees a code that is not there")
	}
	if got := handoff.CodeOf(errors.New("disk")); got != "" {
		t.Errorf("an ordinary error has code %q", got)
	}
}

func TestAddingADetailLeavesTheOriginalAlone(t *testing.T) {
	one := handoff.Refuse(handoff.CodeLimit, "", "hop limit").With("hops", 10)
	two := one.With("limit", 10)
	if len(one.Details) != 1 || len(two.Details) != 2 {
		t.Errorf("details: %v and %v", one.Details, two.Details)
	}
}
