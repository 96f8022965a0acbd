package proof

import (
	"context"
	"errors"
	"runtime"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// A verification reads the next pages of a record while it decodes and hashes the entries of those before, on all processors.

// Scanner is a [Record] that decodes what it reads on other goroutines.
type Scanner interface {
	// Scan reads what is stored after a position. Damaged entries, those that are missing, and those that are put away, are among what the function returns, in their places.
	// last is the position of the last entry, 0 if there are no more. Errors: those of the file, after what could be read.
	Scan(ctx context.Context, after ledger.Position) (last ledger.Position, decode func() []ledger.Scanned, err error)
}

// page is some entries that follow each other, and the error after them, after which there are no more pages.
type page struct {
	ready   chan struct{} // closed when the entries are there
	entries []scanned
	err     error
}

// scanned is an entry, with its leaf in the tree and what is wrong with its content.
type scanned struct {
	ledger.Scanned
	leaf  Hash
	wrong string
}

// pages reads the entries after a position up to another one, and has a function look at each that can be read, on any goroutine. Cancel ctx to end it early.
func pages(ctx context.Context, r Record, at, last ledger.Position, each func(*scanned)) <-chan *page {
	scan := inTwoSteps(r)
	out := make(chan *page, 2*runtime.GOMAXPROCS(0))
	busy := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		defer close(out)
		for at < last {
			end, decode, err := scan(ctx, at)
			p := &page{ready: make(chan struct{}), err: err}
			busy <- struct{}{}
			go func() {
				defer func() { <-busy; close(p.ready) }()
				p.decode(decode, each)
			}()
			select {
			case out <- p:
			case <-ctx.Done():
				<-p.ready
				return
			}
			if err != nil || end == 0 {
				return
			}
			at = end
		}
	}()
	return out
}

// decode sets the entries.
func (p *page) decode(decode func() []ledger.Scanned, each func(*scanned)) {
	if decode == nil {
		return
	}
	list := decode()
	p.entries = make([]scanned, len(list))
	for i := range list {
		s := &p.entries[i]
		if s.Scanned = list[i]; s.Err == nil {
			each(s)
		}
	}
}

// hash sets the leaf of an entry, and what is wrong with its content.
func (s *scanned) hash() { s.leaf, s.wrong = LeafOf(s.Stored), CheckContent(&s.Entry) }

// inTwoSteps is the Scan of a record, or does the same with its Read.
func inTwoSteps(r Record) func(context.Context, ledger.Position) (ledger.Position, func() []ledger.Scanned, error) {
	if s, ok := r.(Scanner); ok {
		return s.Scan
	}
	return func(ctx context.Context, after ledger.Position) (last ledger.Position, decode func() []ledger.Scanned, err error) {
		entries, err := ledger.Page(ctx, r, after, readPage)
		if n := len(entries); n > 0 {
			last = entries[n-1].Position
		}
		var next []ledger.Scanned
		if damaged, ok := errors.AsType[*ledger.Damaged](err); ok {
			last, next, err = damaged.Position, []ledger.Scanned{{Err: err}}, nil
		}
		return last, func() []ledger.Scanned {
			list := make([]ledger.Scanned, 0, len(entries)+1)
			for i := range entries {
				list = append(list, ledger.Scanned{Entry: entries[i], Stored: entries[i].AppendStored(nil)})
			}
			return append(list, next...)
		}, err
	}
}
