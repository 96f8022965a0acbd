package handoff

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

func TestAllThatAReceiverReadsOfWhatAgentsAddCounts(t *testing.T) {
	begin := build(t, create, start, send(), accept("ben"), progress)
	long, most := "agent/"+strings.Repeat("b", 58), 1e300
	full := func(n int, change func(*event.Constraint)) task.Task {
		s := begin.task
		for i := range n {
			k := event.Constraint{
				ID: fmt.Sprintf("k%02dx", i), Kind: event.ConstraintFormat, Text: "x", Origin: "agent/ben", Added: true,
			}
			change(&k)
			s = task.Fold(s, event.Constrained{Constraint: k})
		}
		return s
	}
	for what, s := range map[string]task.Task{
		"few":                        full(9, func(*event.Constraint) {}),
		"setters":                    full(9, func(k *event.Constraint) { k.Origin, k.MaxBy = long, long }),
		"records that do not say so": full(16, func(k *event.Constraint) { k.Added = false }),
		"maxima":                     full(9, func(k *event.Constraint) { k.Max = &most }),
	} {
		c := Constrain{By: agent("ben"), Epoch: s.Epoch, Constraint: event.Constraint{ID: "one-more", Kind: event.ConstraintFormat, Text: "y"}}
		if _, err := Decide(s, c, begin.now); refusal.CodeOf(err) != refusal.Limit && what != "few" || err != nil && what == "few" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, tightens := range []bool{false, true} { // what there is may be tightened, if that makes it no longer
		s := full(16, func(k *event.Constraint) { k.Allow, k.Text = []string{"aaaa", "bbbb"}, strings.Repeat("x", 200) })
		k := s.Constraints[0]
		k.Allow, k.Origin, k.Added = []string{"aaaa", "bbbb"}[:1], "", false
		if !tightens {
			k.ID = "another"
		}
		_, err := Decide(s, Constrain{By: agent("ben"), Epoch: s.Epoch, Constraint: k}, begin.now)
		if (err == nil) != tightens {
			t.Errorf("tightens %v: %v", tightens, err)
		}
	}
}

// TestWhatAgentsAddIsBounded sets random constraints as an agent that is not the requester, until nothing more is accepted.
func TestWhatAgentsAddIsBounded(t *testing.T) {
	begin := build(t, create, start, send(), accept("ben"), progress)
	words := func(s string) int { return len(strings.Fields(s)) }
	value := rapid.StringMatching(`[a-z+=~#]{1,60}`)
	rapid.Check(t, func(t *rapid.T) {
		s, refused := begin.task, 0
		for i := range 40 {
			k := event.Constraint{
				ID: fmt.Sprintf("k%02dx", i), Kind: event.ConstraintFormat,
				Text: strings.Repeat(rapid.SampledFrom([]string{"x", "x ", "word "}).Draw(t, "of"), rapid.IntRange(1, 120).Draw(t, "times")) + ".",
			}
			if rapid.Bool().Draw(t, "limited") {
				k.Allow = rapid.SliceOfNDistinct(value, 0, 8, rapid.ID).Draw(t, "allow")
			}
			events, err := Decide(s, Constrain{By: agent("ben"), Epoch: s.Epoch, Constraint: k, Count: words}, begin.now)
			switch code := refusal.CodeOf(err); {
			case err == nil:
				s.Apply(events...)
			case code == refusal.Limit || code == refusal.TooLarge:
				refused++
			default:
				t.Fatal(err)
			}
		}
		bytes, tokens := 0, 0
		for _, k := range s.Constraints {
			if !k.Added || len(k.Text) > event.MaxAddedText {
				t.Fatalf("%+v", k)
			}
			bytes += len(k.ID + k.Text + strings.Join(k.Allow, ""))
			tokens += words(k.Text)
		}
		if n := len(s.Constraints); n == 0 || n > event.MaxAdded || bytes > event.MaxAddedTotal || tokens > event.MaxAddedTokens || n+refused != 40 {
			t.Fatalf("%d constraints, %d bytes, %d tokens, %d refused", n, bytes, tokens, refused)
		}
	})
}
