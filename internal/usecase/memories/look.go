package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// maxLooked is how many items a look remembers.
const maxLooked = 10_000

// look is a look at the items that one answer refers to: each is loaded once, however often the envelopes and entries of the answer have
// it. It is for one goroutine.
type look struct {
	store *Store
	gone  map[ledger.Stream]bool // whether an item was forgotten
}

func (st *Store) look() *look { return &look{store: st, gone: map[ledger.Stream]bool{}} }

// forgotten reports whether an item was forgotten.
func (l *look) forgotten(ctx context.Context, item ledger.Stream) (bool, error) {
	if gone, looked := l.gone[item]; looked {
		return gone, nil
	}
	f, err := l.store.Load(ctx, item, true)
	if err != nil {
		return false, err
	}
	if len(l.gone) >= maxLooked {
		clear(l.gone)
	}
	l.gone[item] = f.State.Forgotten()
	return l.gone[item], nil
}

// among returns the ids of the references whose items were forgotten, each once.
func (l *look) among(ctx context.Context, workspace string, refs []envelope.MemoryRef) (ids []string, err error) {
	listed := map[string]bool{}
	for _, m := range refs {
		gone, err := l.forgotten(ctx, StreamOf(workspace, m.ID))
		if err != nil {
			return nil, err
		}
		if gone && !listed[m.ID] {
			listed[m.ID] = true
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}
