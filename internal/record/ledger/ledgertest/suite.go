package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// patience ends a test that would hang. No test waits for it.
const patience = time.Minute

// Run is the conformance suite. open returns an empty ledger; the suite closes it. The suite resolves ErrUnknown and
// spurious ErrConflict as a real client must.
func Run(t *testing.T, open func(t *testing.T) ledger.Ledger) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, *harness)
	}{
		{"an empty ledger has nothing", testEmpty},
		{"an entry comes back as it was appended", testRoundTrip},
		{"an append needs the stream's last position", testCompareAndSet},
		{"of concurrent appends one wins each version", testOneWinner},
		{"appends without compare-and-set always fit", testAny},
		{"the times of a stream without compare-and-set are in order", testTimes},
		{"positions grow over all streams", testPositions},
		{"a stream shows every acknowledged append", testStreamLinearizable},
		{"a stream is read in pages", testStreamPages},
		{"read and follow miss nothing, from any position", testGapless},
		{"a follower waits for what comes", testFollowWaits},
		{"a follower ends with its function's error", testFollowEnds},
		{"invalid arguments are refused", testInvalid},
		{"an entry that is too large is refused", testTooLarge},
		{"a cancelled call ends", testCancelled},
		{"a closed ledger is unavailable", testClosed},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			l := open(t)
			t.Cleanup(func() { _ = l.Close() })
			c.test(t, &harness{ctx: ctx, l: l})
		})
	}
}

type harness struct {
	ctx context.Context
	l   ledger.Ledger
}

// put appends and fails the test if that does not succeed.
func (h *harness) put(t testing.TB, e ledger.Entry, expect ledger.Position) ledger.Position {
	t.Helper()
	p, err := Put(h.ctx, h.l, e, expect)
	if err != nil {
		t.Fatalf("append of %s version %d: %v", e.Stream, e.Version, err)
	}
	return p
}

// fill appends n entries to one stream and returns their positions.
func (h *harness) fill(t testing.TB, s ledger.Stream, n int) []ledger.Position {
	t.Helper()
	positions := make([]ledger.Position, n)
	var expect ledger.Position
	for i := range n {
		expect = h.put(t, NewEntry(s, uint64(i+1), fmt.Sprint(i)), expect) //nolint:gosec // small
		positions[i] = expect
	}
	return positions
}

func (h *harness) stream(t testing.TB, s ledger.Stream, after ledger.Position) []ledger.Entry {
	t.Helper()
	entries, err := h.l.Stream(h.ctx, s, after, 1<<20)
	if err != nil {
		t.Fatalf("stream %s after %d: %v", s, after, err)
	}
	return entries
}

// follow collects n entries after a position.
func (h *harness) follow(t testing.TB, after ledger.Position, n int) []ledger.Entry {
	t.Helper()
	var got []ledger.Entry
	err := h.l.Follow(h.ctx, after, func(batch []ledger.Entry) error {
		if got = append(got, batch...); len(got) >= n {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) && n > 0 {
		t.Errorf("follow after %d ended with %v, having %d of %d entries", after, err, len(got), n)
	}
	return got
}

var errEnough = errors.New("enough")

func testEmpty(t *testing.T, h *harness) {
	if last, err := h.l.Last(h.ctx); last != 0 || err != nil {
		t.Errorf("Last: %d, %v", last, err)
	}
	if got, err := h.l.Read(h.ctx, 0, 10); len(got) != 0 || err != nil {
		t.Errorf("Read: %v, %v", got, err)
	}
	if got := h.stream(t, "w/task/none", 0); len(got) != 0 {
		t.Errorf("Stream: %v", got)
	}
	if err := h.l.Err(); err != nil {
		t.Errorf("Err: %v", err)
	}
}

func testRoundTrip(t *testing.T, h *harness) {
	e := NewEntry("w/task/ü", 1, "line\nfeed, \"quotes\", <tags> and 日本")
	e.Actor = ledger.Actor{Principal: "agent/x", Token: "tok", For: []string{"operator/y"}}
	e.Events = append(e.Events, ledger.Event{Name: "other", Version: 7, Data: []byte(`[1,2.50,null]`)})
	e.Position = 99 // ignored
	p := h.put(t, e, 0)
	want, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, entries := range map[string][]ledger.Entry{
		"Stream": h.stream(t, e.Stream, 0), "Follow": h.follow(t, 0, 1),
	} {
		if len(entries) != 1 {
			t.Fatalf("%s: %d entries", name, len(entries))
		}
		got, err := entries[0].Encode()
		if err != nil || string(got) != string(want) || entries[0].Position != p {
			t.Errorf("%s: position %d (appended at %d), %v\n got %s\nwant %s", name, entries[0].Position, p, err, got, want)
		}
	}
}

func testCompareAndSet(t *testing.T, h *harness) {
	const s = "w/task/cas"
	first := h.put(t, NewEntry(s, 1, "first"), 0)
	other := h.put(t, NewEntry("w/task/other", 1, "elsewhere"), 0)
	second := h.put(t, NewEntry(s, 2, "second"), first)
	for _, c := range []struct {
		version uint64
		expect  ledger.Position
	}{{1, 0}, {2, first}, {3, other}, {3, second + 1000}, {2, 1 << 62}} {
		_, err := h.l.Append(h.ctx, NewEntry(s, c.version, "late"), c.expect)
		if !errors.Is(err, ledger.ErrConflict) && !errors.Is(err, ledger.ErrUnknown) {
			t.Errorf("expecting %d of a stream that ends at %d: got %v, want ErrConflict", c.expect, second, err)
		}
	}
	if got := h.stream(t, s, 0); len(got) != 2 {
		t.Errorf("stream has %d entries, want 2", len(got))
	}
	h.put(t, NewEntry(s, 3, "third"), second)
}

// testOneWinner lets writers race for every version of a few streams, each reloading after a loss.
func testOneWinner(t *testing.T, h *harness) {
	const writers, streams, versions = 8, 3, 30
	wins := make([][]ledger.Position, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range streams * versions {
				s := ledger.StreamOf("w", "task", fmt.Sprint("race", i%streams))
				known := h.stream(t, s, 0)
				var expect ledger.Position
				if len(known) > 0 {
					expect = known[len(known)-1].Position
				}
				p, err := Put(h.ctx, h.l, NewEntry(s, uint64(len(known)+1), fmt.Sprint(w)), expect)
				if err == nil {
					wins[w] = append(wins[w], p)
				} else if !errors.Is(err, ledger.ErrConflict) {
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	winner := map[ledger.Position]int{}
	for w := range wins {
		for _, p := range wins[w] {
			if other, taken := winner[p]; taken {
				t.Errorf("position %d was given to writers %d and %d", p, other, w)
			}
			winner[p] = w
		}
	}
	total := 0
	for i := range streams {
		s := ledger.StreamOf("w", "task", fmt.Sprint("race", i))
		for j, e := range h.stream(t, s, 0) {
			total++
			if e.Version != uint64(j+1) {
				t.Errorf("%s has version %d at place %d", s, e.Version, j+1)
			}
			if _, ok := winner[e.Position]; !ok {
				t.Errorf("%s version %d at %d was acknowledged to nobody", s, e.Version, e.Position)
			}
		}
	}
	if total != len(winner) || total < versions {
		t.Errorf("%d entries, %d acknowledged, want the same and at least %d", total, len(winner), versions)
	}
}

func testAny(t *testing.T, h *harness) {
	const s, writers, each = "w/access/agent:x", 4, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if _, err := Put(h.ctx, h.l, NewEntry(s, 0, "read"), ledger.Any); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	wg.Wait()
	got := h.stream(t, s, 0)
	if len(got) != writers*each {
		t.Fatalf("stream has %d entries, want %d", len(got), writers*each)
	}
	for _, expect := range []ledger.Position{0, got[0].Position} { // one that is copied expects what it follows
		if _, err := h.l.Append(h.ctx, NewEntry(s, 0, "copied"), expect); !errors.Is(err, ledger.ErrConflict) && !errors.Is(err, ledger.ErrUnknown) {
			t.Errorf("expecting %d of a stream that has gone on: got %v, want ErrConflict", expect, err)
		}
	}
	h.put(t, NewEntry(s, 0, "copied"), got[len(got)-1].Position)
	if got := h.stream(t, s, 0); len(got) != writers*each+1 {
		t.Errorf("stream has %d entries, want %d", len(got), writers*each+1)
	}
}

func testTimes(t *testing.T, h *harness) {
	const s = "w/access/agent:late"
	first := NewEntry(s, 0, "read").Time
	for i, step := range []time.Duration{time.Hour, 0, 2 * time.Hour, -time.Hour, time.Hour} {
		e := NewEntry(s, 0, fmt.Sprint(i))
		e.Time = first.Add(step)
		h.put(t, e, ledger.Any)
	}
	got := h.stream(t, s, 0)
	read, err := h.l.Read(h.ctx, 0, 100)
	if err != nil || len(got) != 5 {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	for i, step := range []time.Duration{time.Hour, time.Hour, 2 * time.Hour, 2 * time.Hour, 2 * time.Hour} {
		if want := first.Add(step); !got[i].Time.Equal(want) || i < len(read) && !read[i].Time.Equal(want) {
			t.Errorf("entry %d is of %s, want %s", i, got[i].Time, want)
		}
	}
}

func testPositions(t *testing.T, h *harness) {
	var before ledger.Position
	for i := range 20 {
		p := h.put(t, NewEntry(ledger.StreamOf("w", "task", fmt.Sprint(i)), 1, "x"), 0)
		if p <= before {
			t.Fatalf("position %d follows %d", p, before)
		}
		before = p
		if last, err := h.l.Last(h.ctx); err != nil || last < p {
			t.Fatalf("Last: %d, %v right after %d was acknowledged", last, err, p)
		}
	}
}
