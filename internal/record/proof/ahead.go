package proof

import (
	"context"
	"runtime"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Follower is given the entries of a record in their order.
type Follower interface {
	// Prepare is called with each entry before, in any order and on any goroutine.
	Prepare(e *ledger.Entry)
	// Add is called with those that follow each other. It may be called with the same ones again.
	Add(entries []ledger.Entry)
}

// Ahead is a record that is read from its beginning to its end: what comes next is read and decoded on other goroutines meanwhile. Use it on one goroutine, and Close it.
type Ahead struct {
	record Record
	to     Follower // nil: none
	cancel context.CancelFunc
	list   <-chan *page
	at     ledger.Position // of the last entry that was returned
	next   []ledger.Entry
	err    error // after next

	// Of one alongside a verification:
	given   chan<- *page
	left    <-chan struct{} // closed when nothing more is read
	stopped error           // why the verification gave no more; set before given is closed
}

// ReadAhead begins to read after a position. Each entry that is read is given to a follower, which may be nil. Error: of the record.
func ReadAhead(ctx context.Context, r Record, after ledger.Position, to Follower) (*Ahead, error) {
	last, err := r.Last(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	prepare := func(s *scanned) {
		if to != nil {
			to.Prepare(&s.Entry)
		}
	}
	return &Ahead{record: r, to: to, cancel: cancel, list: pages(ctx, r, after, last, prepare), at: after}, nil
}

// Alongside is a record whose entries are those that [VerifyRecord] verifies, with it as [Evidence.Along], up to the first finding: so it is read once for both. The
// verification waits for its reader, until it is closed, and the reader for the verification.
func Alongside(r Record, to Follower) *Ahead {
	list, left := make(chan *page, 2*runtime.GOMAXPROCS(0)), make(chan struct{})
	return &Ahead{record: r, to: to, cancel: sync.OnceFunc(func() { close(left) }), list: list, given: list, left: left}
}

// Follower is what follows the entries that are read; nil: nothing.
func (a *Ahead) Follower() Follower { return a.to }

// prepare is called with each entry before it is given.
func (a *Ahead) prepare(s *scanned) {
	if a != nil && a.to != nil {
		a.to.Prepare(&s.Entry)
	}
}

// give gives a page that was verified.
func (a *Ahead) give(p *page) {
	select {
	case a.given <- p:
	case <-a.left:
	}
}

// stop ends what is given.
func (a *Ahead) stop(err error) {
	if a.given != nil {
		a.stopped = err
		close(a.given)
		a.given = nil
	}
}

// Read is that of [Record].
func (a *Ahead) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	if after != a.at {
		return a.record.Read(ctx, after, limit)
	}
	for len(a.next) == 0 {
		if a.err != nil {
			return nil, a.err
		}
		p, more := <-a.list
		if !more && a.stopped != nil {
			return nil, a.stopped
		}
		if !more { // what was added since it began
			return a.returned(ledger.Page(ctx, a.record, after, limit))
		}
		<-p.ready
		a.take(p)
	}
	list := a.next[:min(limit, len(a.next))]
	a.next = a.next[len(list):]
	return a.returned(list, ctx.Err())
}

// take has the entries of a page follow, up to the first that cannot be read.
func (a *Ahead) take(p *page) {
	a.next = make([]ledger.Entry, 0, len(p.entries))
	for i := range p.entries {
		if a.err = p.entries[i].Err; a.err != nil {
			return
		}
		a.next = append(a.next, p.entries[i].Entry)
	}
	a.err = p.err
}

func (a *Ahead) returned(list []ledger.Entry, err error) ([]ledger.Entry, error) {
	if n := len(list); n > 0 {
		a.at = list[n-1].Position
		if a.to != nil {
			a.to.Add(list)
		}
	}
	return list, err
}

// Last is that of [Record].
func (a *Ahead) Last(ctx context.Context) (ledger.Position, error) { return a.record.Last(ctx) }

// Close ends the reading.
func (a *Ahead) Close() {
	a.cancel()
	if a.left != nil { // its pages are ready, and another reads the record
		return
	}
	for p := range a.list {
		<-p.ready
	}
}
