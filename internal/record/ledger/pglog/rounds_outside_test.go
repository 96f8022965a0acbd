//go:build outside

package pglog

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// asked counts how often a connection waits for an answer of the server before it sends more.
type asked struct {
	net.Conn
	n    *atomic.Int64
	sent bool
}

func (a *asked) Write(b []byte) (int, error) {
	if !a.sent {
		a.n.Add(1)
	}
	a.sent = true
	return a.Conn.Write(b)
}

func (a *asked) Read(b []byte) (int, error) {
	n, err := a.Conn.Read(b)
	a.sent = a.sent && err != nil
	return n, err
}

// mostAsked is how often a server is asked until the first entry of a connection is committed: three times who connects, once for its settings, and of the lock and of
// the commit for each how they are executed, and to do it.
const mostAsked = 8

// Where an answer takes long and connections break, one that needs many answers first is often lost before it has committed anything.
func TestAConnectionIsOfUseAfterFewQuestions(t *testing.T) {
	s := pgtest.Start(t)
	l := open(t, s.URL(), Options{})
	var n atomic.Int64
	config := l.config.Copy()
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := l.config.DialFunc(ctx, network, addr)
		return &asked{Conn: c, n: &n}, err
	}
	w := newWriter(l, config)
	defer w.drop()
	for entry, most := range []int64{mostAsked, 2} { // the next one asks for the lock, and for the commit
		r, err := newRequest(ledgertest.NewEntry(ledger.Stream(fmt.Sprint("w/task/", entry)), 1, "x"), 0)
		if err != nil {
			t.Fatal(err)
		}
		n.Store(0)
		if err := w.append(t.Context(), []*request{r}); err != nil {
			t.Fatal(err)
		}
		if n.Load() > most {
			t.Errorf("entry %d: PostgreSQL is asked %d times, want at most %d", entry, n.Load(), most)
		}
	}
}
