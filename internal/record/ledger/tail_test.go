package ledger_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/tail"
)

// filled returns a tail after position 10 with batches of these sizes.
func filled(sizes ...int) *tail.Tail {
	t, at := tail.New(10), ledger.Position(10)
	for _, n := range sizes {
		var list []ledger.Entry
		for range n {
			at++
			list = append(list, ledger.Entry{Position: at})
		}
		t.Add(list, n)
	}
	return t
}

func TestAFollowerThatIsBehindGetsSeveralBatchesAtOnce(t *testing.T) {
	const last = 10 + 1 + 2 + 5 + 1
	for limit := 1; limit < 12; limit++ {
		for after := ledger.Position(10); after < last; after++ {
			l := filled(1, 2, 5, 1)
			for range 2 { // what is given changes nothing that is kept
				got, behind, _ := l.After(after, limit)
				if want := min(limit, last-int(after)); behind || len(got) != want {
					t.Fatalf("after %d, at most %d: %d entries, behind %v, want %d", after, limit, len(got), behind, want)
				}
				for i, e := range got {
					if e.Position != after+1+ledger.Position(i) {
						t.Fatalf("after %d, at most %d: entry %d is at %d", after, limit, i, e.Position)
					}
				}
				_ = append(got, ledger.Entry{})
			}
		}
	}
	if _, behind, _ := filled(1, 2).After(9, 5); !behind {
		t.Error("an entry before those that are kept is not read")
	}
	if got, behind, changed := filled(1, 2).After(13, 5); len(got) > 0 || behind || changed == nil {
		t.Error("at the end", got, behind)
	}
}

func TestEntriesOfManyBatchesAreCopiedOnce(t *testing.T) {
	l := filled(1, 2, 5, 1, 7, 3, 2, 1, 4, 1, 1, 2)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = l.After(11, 64) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
