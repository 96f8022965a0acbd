package erasures

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// Bounds of the pause after the files were written again, which is otherwise scrubShare times as long as that took.
const (
	scrubShare = 1000
	minScrub   = time.Minute
	maxScrub   = 24 * time.Hour
)

// Forget has forget record that a memory item is forgotten, and erases the item: the keys of its content are destroyed when it returns. What free
// pages of the files still have of it goes with the next [Erasures.Tend]. An item that a legal hold or the
// retention policy keeps is forgotten, and erased by [Erasures.Retain] when they no longer do.
func (es *Erasures) Forget(ctx context.Context, workspace, id string, forget func() error) error {
	if es.o.Keys == nil {
		return forget()
	}
	es.holding.Lock()
	defer es.holding.Unlock()
	name := string(memories.StreamOf(workspace, id))
	if err := es.o.Keys.Begin(name, seal.Scrub); err != nil {
		return stream.Unavailable(err)
	}
	if err := forget(); err != nil {
		if code := refusal.CodeOf(err); code == refusal.Unknown || code == refusal.Unavailable {
			return err // the note stays: whether it is forgotten is found out later
		}
		_ = es.o.Keys.End(name) // a note too many changes nothing
		return err
	}
	_, err := es.eraseItem(context.WithoutCancel(ctx), ledger.Stream(name))
	if err == nil {
		err = es.o.Keys.End(name)
	}
	if err != nil {
		return refusal.New(refusal.Unknown, "repeat the call; the server goes on trying by itself", "the item is forgotten, and its key may not be destroyed yet")
	}
	return nil
}

// eraseItem destroys the keys of a memory item, if it was forgotten, and neither a legal hold nor the retention policy keeps it. The caller holds the lock of holds.
func (es *Erasures) eraseItem(ctx context.Context, of ledger.Stream) (erased bool, err error) {
	workspace, _, id := of.Parts()
	item, err := es.p.Memories.Load(ctx, of, true)
	if err != nil || !item.State.Forgotten() {
		return false, err
	}
	f := newFound(workspace, erasure.Subject{})
	until, _, err := es.kept(ctx, f, []ledger.Stream{of})
	if err != nil || es.p.Now().Before(until) {
		return false, err
	}
	names := map[erasure.Subject]bool{}
	if err := es.addItemNames(ctx, workspace, id, names); err != nil {
		return false, err
	}
	held, err := es.kind.Load(ctx, StreamOf(workspace), true)
	if err != nil || held.State.Held(names) {
		return false, err
	}
	ids, err := es.keysOf(ctx, of)
	if err != nil {
		return false, err
	}
	es.erased++
	return true, es.o.Keys.Destroy([]ledger.Stream{of}, ids, item.State.ForgottenAt, item.State.ForgottenBy)
}

// Tend removes from the files what is left of memory items that were forgotten, and finishes erasures that failed. Call it again and again: it
// returns at once if there is nothing to do, or if it did it just now.
func (es *Erasures) Tend(ctx context.Context) error {
	if es.o.Keys == nil {
		return nil
	}
	pending, err := es.o.Keys.Pending()
	if err != nil || len(pending) == 0 {
		return err
	}
	es.one.Lock()
	defer es.one.Unlock()
	if es.p.Now().Before(es.next) {
		return nil
	}
	began := time.Now() // by no clock of tests
	if err := es.finishAll(ctx, pending); err != nil {
		return err
	}
	if slices.Contains(pending, seal.Scrub) {
		err = es.scrub(ctx)
	}
	es.next = es.p.Now().Add(min(max(scrubShare*time.Since(began), minScrub), maxScrub))
	return err
}

// scrub removes what is left of memory items from the files.
func (es *Erasures) scrub(ctx context.Context) error {
	es.holding.Lock()
	before := es.erased
	es.holding.Unlock()
	es.o.Purge()
	if err := es.o.Scrub(ctx); err != nil {
		return err
	}
	es.holding.Lock()
	defer es.holding.Unlock()
	if es.erased != before {
		return nil // again, for those that were forgotten meanwhile
	}
	return es.o.Keys.End(seal.Scrub)
}

// isItem reports whether a note is of a memory item, and not of a workspace.
func isItem(note string) bool { return strings.Contains(note, "/") }
