package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func testStreamLinearizable(t *testing.T, h *harness) {
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			s := ledger.StreamOf("w", "task", fmt.Sprint("own", w))
			var expect ledger.Position
			for v := range 40 {
				p, err := Put(h.ctx, h.l, NewEntry(s, uint64(v+1), "x"), expect)
				if err != nil {
					t.Errorf("append: %v", err)
					return
				}
				if got := h.stream(t, s, expect); len(got) != 1 || got[0].Position != p {
					t.Errorf("after the acknowledgment of %d the stream ends with %v", p, got)
				}
				if got := h.stream(t, s, p); len(got) != 0 {
					t.Errorf("after its end at %d the stream goes on with %v", p, got)
				}
				expect = p
			}
		})
	}
	wg.Wait()
}

func testStreamPages(t *testing.T, h *harness) {
	const s = "w/task/pages"
	want := h.fill(t, s, 10)
	h.fill(t, "w/task/pagesandmore", 3)
	var got []ledger.Position
	var after ledger.Position
	for {
		page, err := h.l.Stream(h.ctx, s, after, 3)
		if err != nil || len(page) > 3 {
			t.Fatalf("page of %d, %v", len(page), err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			got = append(got, e.Position)
		}
		after = got[len(got)-1]
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, beyond := range []ledger.Position{after + 1, 1 << 63, ledger.Any} {
		if got := h.stream(t, s, beyond); len(got) != 0 {
			t.Errorf("after %d: %d entries", beyond, len(got))
		}
	}
}

// testGapless follows and reads from several positions while writers append, and compares what each saw.
func testGapless(t *testing.T, h *harness) {
	const writers, each, n = 4, 50, 10 + 4*50
	early := h.fill(t, "w/task/early", 10)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { h.fill(t, ledger.StreamOf("w", "task", fmt.Sprint("late", w)), each) })
	}
	starts := []int{0, 1, 5, 10}
	followed, read := make([][]ledger.Entry, len(starts)), make([][]ledger.Entry, len(starts))
	for i, skip := range starts {
		var after ledger.Position
		if skip > 0 {
			after = early[skip-1]
		}
		wg.Go(func() { followed[i] = h.follow(t, after, n-skip) })
		wg.Go(func() { read[i] = h.readAll(t, after, n-skip) })
	}
	wg.Wait()
	for i, skip := range starts {
		for name, got := range map[string][]ledger.Entry{"follow": followed[i], "read": read[i]} {
			want := read[0][min(skip, len(read[0])):]
			if list(got) != list(want) || len(got) != n-skip {
				t.Errorf("%s after %d entries: %d entries, want %d\n got %s\nwant %s", name, skip, len(got), n-skip, list(got), list(want))
			}
			for j := 1; j < len(got); j++ {
				if got[j].Position <= got[j-1].Position {
					t.Errorf("%s: %d follows %d", name, got[j].Position, got[j-1].Position)
				}
			}
		}
	}
	if last, err := h.l.Last(h.ctx); err != nil || len(read[0]) == 0 || last != read[0][len(read[0])-1].Position {
		t.Errorf("Last: %d, %v", last, err)
	}
}

// readAll reads until it has n entries, with changing limits.
func (h *harness) readAll(t testing.TB, after ledger.Position, n int) (got []ledger.Entry) {
	for limit := 1; len(got) < n; limit = limit%7 + 1 {
		page, err := h.l.Read(h.ctx, after, limit)
		if err != nil || len(page) > limit {
			t.Errorf("read after %d: %d entries of %d, %v", after, len(page), limit, err)
			return got
		}
		if got = append(got, page...); len(page) > 0 {
			after = page[len(page)-1].Position
		}
	}
	return got
}

func list(entries []ledger.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%d:%s/%d ", e.Position, e.Stream, e.Version)
	}
	return b.String()
}

func testFollowWaits(t *testing.T, h *harness) {
	seen := make(chan ledger.Entry, 100)
	ctx, cancel := context.WithCancel(h.ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- h.l.Follow(ctx, 0, func(batch []ledger.Entry) error {
			for _, e := range batch {
				seen <- e
			}
			return nil
		})
	}()
	var expect ledger.Position
	for v := range 5 { // each entry is appended only when the one before has been seen
		expect = h.put(t, NewEntry("w/task/live", uint64(v+1), "x"), expect)
		select {
		case e := <-seen:
			if e.Position != expect {
				t.Errorf("saw %d, want %d", e.Position, expect)
			}
		case <-h.ctx.Done():
			t.Fatalf("entry %d was never seen", expect)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("follow ended with %v, want the context's error", err)
	}
}

func testFollowEnds(t *testing.T, h *harness) {
	h.fill(t, "w/task/few", 3)
	calls := 0
	err := h.l.Follow(h.ctx, 0, func([]ledger.Entry) error { calls++; return errEnough })
	if !errors.Is(err, errEnough) || calls != 1 {
		t.Errorf("follow ended with %v after %d calls", err, calls)
	}
}

func testInvalid(t *testing.T, h *harness) {
	good := func() ledger.Entry { return NewEntry("w/task/bad", 1, "x") }
	for name, spoil := range map[string]func(*ledger.Entry){
		"stream":     func(e *ledger.Entry) { e.Stream = "w/task/white space" },
		"principal":  func(e *ledger.Entry) { e.Actor.Principal = "" },
		"no events":  func(e *ledger.Entry) { e.Events = nil },
		"event data": func(e *ledger.Entry) { e.Events[0].Data = []byte(`{`) },
		"version":    func(e *ledger.Entry) { e.Version = 2 },
		"encoding":   func(e *ledger.Entry) { e.Enc, e.Events[0].Data, e.Sealed = "rot13", nil, []byte("x") },
	} {
		e := good()
		spoil(&e)
		if _, err := h.l.Append(h.ctx, e, 0); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	for _, limit := range []int{0, -1} {
		if _, err := h.l.Stream(h.ctx, "w/task/bad", 0, limit); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("Stream with limit %d: got %v, want ErrInvalid", limit, err)
		}
		if _, err := h.l.Read(h.ctx, 0, limit); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("Read with limit %d: got %v, want ErrInvalid", limit, err)
		}
	}
	if _, err := h.l.Stream(h.ctx, "no-stream", 0, 1); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("Stream of a bad name: got %v, want ErrInvalid", err)
	}
	if got := h.stream(t, "w/task/bad", 0); len(got) != 0 {
		t.Errorf("%d refused entries were written", len(got))
	}
}

func testTooLarge(t *testing.T, h *harness) {
	const s = "w/task/large"
	big := NewEntry(s, 1, strings.Repeat("x", ledger.MaxEntrySize))
	if _, err := h.l.Append(h.ctx, big, 0); !errors.Is(err, ledger.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	fits := NewEntry(s, 1, strings.Repeat("x", ledger.MaxEntrySize-1000))
	p := h.put(t, fits, 0)
	if got := h.stream(t, s, 0); len(got) != 1 || got[0].Position != p {
		t.Errorf("stream has %d entries", len(got))
	}
}

func testCancelled(t *testing.T, h *harness) {
	ctx, cancel := context.WithCancel(h.ctx)
	cancel()
	_, err := h.l.Append(ctx, NewEntry("w/task/cancelled", 1, "x"), 0)
	if !errors.Is(err, ledger.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("Append: got %v, want ErrUnknown and the context's error", err)
	}
	if _, err := h.l.Stream(ctx, "w/task/cancelled", 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Stream: %v", err)
	}
	if _, err := h.l.Read(ctx, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
	if err := h.l.Follow(ctx, 0, func([]ledger.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Follow: %v", err)
	}
	if _, err := h.l.Last(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Last: %v", err)
	}
}

func testClosed(t *testing.T, h *harness) {
	h.fill(t, "w/task/closing", 2)
	ended := make(chan error, 1)
	seen := make(chan struct{})
	var once sync.Once
	go func() {
		ended <- h.l.Follow(h.ctx, 0, func([]ledger.Entry) error { once.Do(func() { close(seen) }); return nil })
	}()
	<-seen
	for range 2 {
		if err := h.l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	_, appendErr := h.l.Append(h.ctx, NewEntry("w/task/new", 1, "x"), 0)
	_, streamErr := h.l.Stream(h.ctx, "w/task/closing", 0, 1)
	_, readErr := h.l.Read(h.ctx, 0, 1)
	_, lastErr := h.l.Last(h.ctx)
	followErr := h.l.Follow(h.ctx, 0, func([]ledger.Entry) error { return nil })
	for name, err := range map[string]error{
		"Append": appendErr, "Stream": streamErr, "Read": readErr, "Last": lastErr,
		"Follow": followErr, "Follow under way": <-ended, "Err": h.l.Err(),
	} {
		if !errors.Is(err, ledger.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", name, err)
		}
	}
}

// RunDurable checks what must survive. open returns the ledger kept at place, which the suite chooses: an empty
// directory of the test's own. The suite closes each ledger before it opens the next at the same place.
func RunDurable(t *testing.T, open func(t *testing.T, place string) ledger.Ledger) {
	t.Helper()
	place := t.TempDir()
	var want string
	var expect ledger.Position
	for round := range 3 {
		l := open(t, place)
		h := &harness{ctx: t.Context(), l: l}
		if got := list(h.readAll(t, 0, 6*round)); got != want {
			t.Errorf("round %d begins with\n%s\nwant\n%s", round, got, want)
		}
		if round > 0 {
			if _, err := l.Append(h.ctx, NewEntry("w/task/kept", 1, "again"), 0); !errors.Is(err, ledger.ErrConflict) {
				t.Errorf("stream is new again: %v", err)
			}
		}
		for i := range 5 {
			expect = h.put(t, NewEntry("w/task/kept", uint64(round*5+i+1), "x"), expect)
		}
		h.put(t, NewEntry(ledger.StreamOf("w", "task", fmt.Sprint("round", round)), 1, "x"), 0)
		want = list(h.readAll(t, 0, 6*(round+1)))
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
