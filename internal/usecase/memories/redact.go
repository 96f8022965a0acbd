package memories

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Readable is an entry as it may be shown to those who may read the whole record: what a memory item said is left out
// of its entries once it was forgotten. Its digests stay.
func (st *Store) Readable(ctx context.Context, e ledger.Entry) (ledger.Entry, error) {
	workspace, of, id := e.Stream.Parts()
	if of != kind {
		return e, nil
	}
	f, err := st.Load(ctx, StreamOf(workspace, id), true)
	if err != nil || !f.State.Forgotten() {
		return e, err
	}
	events, err := st.Codec().DecodeAll(e.Events)
	if err != nil {
		return e, err
	}
	for i, event := range events {
		switch ev := event.(type) {
		case memory.ItemStored:
			ev.Version, ev.Tags = withheld(ev.Version), nil
			events[i] = ev
		case memory.ItemRevised:
			ev.Version = withheld(ev.Version)
			events[i] = ev
		case memory.ItemTagged:
			ev.Tags = nil
			events[i] = ev
		}
	}
	e.Events, err = st.Codec().EncodeAll(events)
	return e, err
}

func withheld(v memory.Version) memory.Version {
	v.Title, v.Text, v.Salt = "", "withheld", ""
	return v
}
