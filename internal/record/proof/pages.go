package proof

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// A verification reads the next pages of a record while it hashes the entries of those before, on all processors.

// readAhead is how many pages are read before they are needed.
const readAhead = 2

// page is some entries that follow each other, and the error after them: that the next one is damaged, or another, after which there are no more pages.
type page struct {
	entries []ledger.Entry
	err     error
}

// pages reads the entries after a position up to another one. Cancel ctx to end it early.
func pages(ctx context.Context, r Record, at, last ledger.Position) <-chan page {
	out := make(chan page, readAhead)
	go func() {
		defer close(out)
		for at < last {
			var p page
			p.entries, p.err = r.Read(ctx, at, readPage)
			damaged, isDamaged := errors.AsType[*ledger.Damaged](p.err)
			select {
			case out <- p:
			case <-ctx.Done():
				return
			}
			switch {
			case isDamaged:
				at = damaged.Position
			case p.err != nil || len(p.entries) == 0:
				return
			default:
				at = p.entries[len(p.entries)-1].Position
			}
		}
	}()
	return out
}

// leaf is what an entry is in the tree, and what is wrong with its content.
type leaf struct {
	hash  Hash
	wrong string
}

// leaves returns the leaf of each entry.
func (p page) leaves() []leaf {
	out := make([]leaf, len(p.entries))
	var working sync.WaitGroup
	each := max(16, (len(out)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < len(out); from += each {
		working.Go(func() {
			for i := from; i < min(from+each, len(out)); i++ {
				e := &p.entries[i]
				out[i].hash = Leaf(*e)
				out[i].wrong = CheckContent(e)
			}
		})
	}
	working.Wait()
	return out
}
