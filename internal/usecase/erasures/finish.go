package erasures

import (
	"context"
	"errors"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Finish finishes what a crash interrupted. It is for the server, before it answers calls. What the files still have of memory items that were
// forgotten is left to [Erasures.Tend].
func (es *Erasures) Finish(ctx context.Context) error {
	if es.o.Keys == nil {
		return nil
	}
	es.one.Lock()
	defer es.one.Unlock()
	pending, err := es.o.Keys.Pending()
	return errors.Join(err, es.finishAll(ctx, pending))
}

// finishAll finishes what was noted: the erasures of workspaces, and, of memory items, the end of their keys.
func (es *Erasures) finishAll(ctx context.Context, pending []string) (err error) {
	for _, note := range pending {
		var of error
		switch {
		case note == seal.Scrub: // it is done by Tend
		case isItem(note):
			of = es.finishItem(ctx, note)
		default:
			_, of = es.finish(ctx, note)
		}
		err = errors.Join(err, of)
	}
	return err
}

// finishItem destroys the keys of a memory item that was forgotten.
func (es *Erasures) finishItem(ctx context.Context, note string) error {
	es.holding.Lock()
	defer es.holding.Unlock()
	if _, err := es.eraseItem(ctx, ledger.Stream(note)); err != nil {
		return err
	}
	return es.o.Keys.End(note)
}

// finish finishes the erasures of a workspace that are pending: it destroys their keys, and then builds the views again once. Every step can be
// repeated.
func (es *Erasures) finish(ctx context.Context, workspace string) (erasure.State, error) {
	f, err := es.kind.Load(ctx, StreamOf(workspace), true)
	if err != nil {
		return f.State, err
	}
	s := f.State
	keys := map[int]int{}
	for _, e := range s.Pending() {
		if keys[e.N], err = es.destroy(ctx, e); err != nil {
			return s, err
		}
	}
	if len(keys) > 0 {
		es.o.Purge()
		if err := es.o.Rebuild(ctx); err != nil {
			return s, err
		}
		es.o.Purge() // what was read while the keys were destroyed
	}
	for _, e := range s.Pending() {
		if s, err = es.finishOne(ctx, workspace, e, keys[e.N]); err != nil {
			return s, err
		}
	}
	es.holding.Lock()
	defer es.holding.Unlock()
	return s, es.o.Keys.End(workspace)
}

// destroy destroys the keys of an erasure, and returns how many.
func (es *Erasures) destroy(ctx context.Context, e erasure.Erasure) (int, error) {
	var streams []ledger.Stream
	var ids []string
	for _, name := range e.Streams {
		s := ledger.Stream(name)
		keys, err := es.keysOf(ctx, s)
		if err != nil {
			return 0, err
		}
		streams, ids = append(streams, s), append(ids, keys...)
	}
	return len(ids), es.o.Keys.Destroy(streams, ids, e.At, e.By)
}

// finishOne deletes the files of an erasure, and records its end.
func (es *Erasures) finishOne(ctx context.Context, workspace string, e erasure.Erasure, keys int) (erasure.State, error) {
	files, err := es.p.Artifacts.Drop(ctx, workspace, e.Files)
	if err != nil {
		return erasure.State{}, err
	}
	done := erasure.Finished{N: e.N, Keys: keys, Files: files}
	out, err := es.kind.Do(ctx, caller.System(workspace, "eraser").Write(""), StreamOf(workspace), func(s erasure.State, now time.Time) ([]erasure.Event, error) {
		return erasure.Decide(s, erasure.Finish{Finished: done}, now)
	})
	if err != nil {
		return erasure.State{}, err
	}
	return *out.State, nil
}

// keysOf returns the names of the keys under which the entries of a stream are sealed.
func (es *Erasures) keysOf(ctx context.Context, s ledger.Stream) (ids []string, err error) {
	last := ""
	err = stream.Each(ctx, es.p.Ledger, s, func(e ledger.Entry) error {
		if e.Enc == ledger.EncSealed && e.KeyID != last {
			last = e.KeyID
			ids = append(ids, last)
		}
		return nil
	})
	return ids, err
}
