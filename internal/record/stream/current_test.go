package stream_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// counted is a ledger that counts reads of streams and looks at the end, which can be held up.
type counted struct {
	ledger.Ledger
	reads, looks int
	held         chan struct{}
	take         time.Duration // of a look
	err          error
}

func (c *counted) Stream(ctx context.Context, of ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	c.reads++
	return c.Ledger.Stream(ctx, of, after, limit)
}

func (c *counted) Last(ctx context.Context) (ledger.Position, error) {
	c.looks++
	if c.held != nil {
		<-c.held
	}
	time.Sleep(c.take)
	if c.err != nil {
		return 0, c.err
	}
	return c.Ledger.Last(ctx)
}

// told is a node whose fresh reads wait for what it is told, and who tells it.
func told(t *testing.T, l ledger.Ledger) (stream.Kind[string, taken], *stream.Current) {
	t.Helper()
	c := stream.NewCurrent(l.Last)
	k, err := stream.New("task", l, func(_ string, e taken) string { return e.By }, time.Now, []taken{{}}, stream.Options[string, taken]{Cached: 10, Current: c, Absent: true})
	if err != nil {
		t.Fatal(err)
	}
	return k, c
}

// fresh is a fresh read that somebody waits for.
func fresh(k stream.Kind[string, taken], of ledger.Stream) <-chan string {
	got := make(chan string, 1)
	go func() {
		f, err := k.Load(context.Background(), of, true)
		if err != nil {
			f.State = err.Error()
		}
		got <- f.State
	}()
	return got
}

// tell tells a node of all entries after a position.
func tell(t *testing.T, k stream.Kind[string, taken], c *stream.Current, l ledger.Ledger, after ledger.Position) {
	t.Helper()
	entries, err := l.Read(t.Context(), after, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		k.Learn(e)
	}
	c.Told(entries[len(entries)-1].Position)
}

func TestAFreshReadOfWhatIsCachedWaitsForTheNewsAndReadsNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &counted{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
		one := node(t, l)
		two, c := told(t, l)
		if _, err := do(t, one, take("anna")); err != nil {
			t.Fatal(err)
		}
		if s := <-fresh(two, place); s != "anna" || l.looks > 0 {
			t.Fatalf("%s after %d looks: nothing is cached yet", s, l.looks)
		}
		tell(t, two, c, l, 0)
		if _, err := do(t, one, take("bert")); err != nil {
			t.Fatal(err)
		}
		l.reads = 0
		got := fresh(two, place)
		synctest.Wait()
		select {
		case s := <-got:
			t.Fatalf("%s, before it is told of the newest entry", s)
		default:
		}
		tell(t, two, c, l, 1)
		if s := <-got; s != "bert" || l.reads > 0 {
			t.Errorf("%s, with %d reads", s, l.reads)
		}
		missing := ledger.Stream("default/task/none")
		if s := <-fresh(two, missing); s != "" || l.reads != 1 {
			t.Errorf("%q after %d reads: no stream", s, l.reads)
		}
		if s := <-fresh(two, missing); s != "" || l.reads != 1 {
			t.Errorf("%q after %d reads: the same again", s, l.reads)
		}
	})
}

func TestFreshReadsShareALookThatBeginsAfterThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &counted{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
		k, c := told(t, l)
		if _, err := do(t, k, take("anna")); err != nil {
			t.Fatal(err)
		}
		c.Told(1)
		l.looks, l.held = 0, make(chan struct{})
		waiting := []<-chan string{fresh(k, place)}
		synctest.Wait()
		for range 100 {
			waiting = append(waiting, fresh(k, place))
		}
		synctest.Wait()
		close(l.held)
		for _, got := range waiting {
			if s := <-got; s != "anna" {
				t.Error(s)
			}
		}
		if l.looks != 2 {
			t.Errorf("%d looks for 101 reads, the first of which came before the others", l.looks)
		}
	})
}

func TestLooksAreRarerWhileManyWaitForEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &counted{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
		k, c := told(t, l)
		if _, err := do(t, k, take("anna")); err != nil {
			t.Fatal(err)
		}
		c.Told(1)
		l.looks, l.take = 0, 2*time.Millisecond
		began := time.Now()
		for range 100 {
			<-fresh(k, place)
		}
		if took := time.Since(began); l.looks != 100 || took != 100*l.take {
			t.Errorf("%d looks for 100 reads, one after the other, in %s: none waits for another", l.looks, took)
		}
		l.looks = 0
		var waiting []<-chan string
		for range 1000 { // in 200 ms
			waiting = append(waiting, fresh(k, place))
			time.Sleep(l.take / 10)
		}
		for _, got := range waiting {
			<-got
		}
		if l.looks > 25 {
			t.Errorf("%d looks for 1,000 reads, of which ten begin while one look takes place", l.looks)
		}
	})
}

func TestAFreshReadReadsTheStreamWhereTheNewsAreLateOrTheEndIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &counted{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
		k, c := told(t, l)
		if _, err := do(t, k, take("anna")); err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, node(t, l), take("bert")); err != nil { // it is never told of that
			t.Fatal(err)
		}
		for _, most := range []time.Duration{time.Second, 0} { // once is enough
			began := time.Now()
			if s := <-fresh(k, place); s != "bert" || time.Since(began) > most {
				t.Errorf("%s after %s", s, time.Since(began))
			}
		}
		tell(t, k, c, l, 0)
		l.err, l.reads = errors.New("no answer"), 0
		began := time.Now()
		if s := <-fresh(k, place); s != "bert" || l.reads != 1 || time.Since(began) > 0 {
			t.Errorf("%s with %d reads after %s: the end cannot be looked up", s, l.reads, time.Since(began))
		}
	})
}

func TestACallHasNoTurnWhileItWaitsForWhatItsServerLearns(t *testing.T) {
	l := ledgertest.NewDouble(ledgertest.Faults{})
	if _, err := do(t, node(t, l), take("anna")); err != nil {
		t.Fatal(err)
	}
	of := &ledgertest.Turn{Held: true}
	ctx, kept := ledger.WithTurn(t.Context(), of), false
	c := stream.NewCurrent(func(context.Context) (ledger.Position, error) {
		kept = of.Held
		return 0, nil
	})
	if current := c.Await(ctx); !current || kept || !of.Held {
		t.Errorf("a fresh read: current %t, with its turn %t, and after it %t", current, kept, of.Held)
	}
	if _, err := c.Last(ctx); err != nil || kept || !of.Held {
		t.Errorf("a look at the end: %v, with its turn %t, and after it %t", err, kept, of.Held)
	}
	more, err := stream.CatchUp(ctx, l, 0, func(context.Context, ledger.Position) error {
		kept = of.Held
		return nil
	})
	if !more || err != nil || kept || !of.Held {
		t.Errorf("a refusal that rests on a view: more %t, %v, with its turn %t, and after it %t", more, err, kept, of.Held)
	}
}

func TestLooksAtTheEndAreSharedWithFreshReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &counted{Ledger: ledgertest.NewDouble(ledgertest.Faults{})}
		k, c := told(t, l)
		if _, err := do(t, k, take("anna")); err != nil {
			t.Fatal(err)
		}
		c.Told(1)
		l.looks, l.held = 0, make(chan struct{})
		first := fresh(k, place)
		synctest.Wait()
		ends := make(chan ledger.Position, 10)
		for range cap(ends) {
			go func() {
				at, err := c.Last(context.Background())
				if err != nil {
					t.Error(err)
				}
				ends <- at
			}()
		}
		synctest.Wait()
		close(l.held)
		<-first
		for range cap(ends) {
			if at := <-ends; at != 1 {
				t.Errorf("the end is %d", at)
			}
		}
		if l.looks != 2 {
			t.Errorf("%d looks", l.looks)
		}
		l.err = errors.New("no answer")
		if _, err := c.Last(t.Context()); !errors.Is(err, l.err) {
			t.Error(err)
		}
	})
}
