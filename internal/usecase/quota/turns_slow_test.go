//go:build slow

package quota

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAClaimIsHeldForAMomentByWhomItWasShownTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, err := NewTurns(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		want := func(when, workspace, agent string, ids ...string) {
			t.Helper()
			of, got := turns.Of(workspace, agent), []string(nil)
			for _, id := range []string{"t1.h1", "t2.h1", "t3.h1"} {
				if of.Held(id) {
					got = append(got, id)
				}
			}
			if !slices.Equal(got, ids) {
				t.Errorf("%s, others than %s in %s hold %v, want %v", when, agent, workspace, got, ids)
			}
		}
		turns.Hold("w", "ann", "t1.h1")
		time.Sleep(held / 2)
		turns.Hold("w", "bob", "t2.h1")
		turns.Hold("x", "cyd", "t3.h1")
		want("at once", "w", "ann", "t2.h1")
		want("at once", "w", "bob", "t1.h1")
		want("at once", "w", "dee", "t1.h1", "t2.h1")
		want("at once", "x", "dee", "t3.h1")
		time.Sleep(held / 2)
		want("later", "w", "dee", "t2.h1")
		time.Sleep(held)
		want("at last", "w", "dee")
	})
}
