package quota

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A claim that nobody takes is not kept from those who would take it.
func TestTwiceAsManyHaveAClaimThatIsOpenAfterItsSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, err := NewTurns(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		var had []int
		for range 4 {
			n := 0
			for i := range 20 {
				agent := fmt.Sprintf("digger-%d", i)
				before := turns.Held("w", agent, "t1.h1").IsZero()
				if got := turns.Hold("w", agent, "t1.h1"); got {
					n++
				} else if before {
					t.Errorf("%s does not get what nobody holds", agent)
				}
				if has := turns.Has("w", agent, "t1.h1"); has == !turns.Held("w", agent, "t1.h1").IsZero() {
					t.Errorf("%s has the claim: %v, and others have it, too", agent, has)
				}
			}
			had = append(had, n)
			time.Sleep(held)
		}
		if want := []int{1, 2, 4, 8}; !slices.Equal(had, want) {
			t.Errorf("had by %v, want %v", had, want)
		}
		time.Sleep(remembered)
		turns.Hold("w", "ann", "t2.h1")
		if n := len(turns.holds.of); n != 1 || len(turns.holds.begun) != 1 {
			t.Errorf("%d holds are remembered", n)
		}
	})
}
