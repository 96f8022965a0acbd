package history

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// exportPage is how many entries are read at a time.
const exportPage = 500

// ExportInput says what to export.
type ExportInput struct {
	Task   string // one task; empty: every entry of the workspace, for those who may read the audit
	Format view.Format
	// Forgotten includes the content of memory items that were forgotten; for operators.
	Forgotten bool
	// SkipDamaged goes on after entries that cannot be read, and lists them in their places; for callers that may read everything.
	SkipDamaged bool
	// Skipped is told of each entry that was skipped; nil: nobody is told.
	Skipped func(at uint64, err error)
}

// How an entry that was skipped is listed.
const (
	damaged = "entry-damaged"
	putAway = "entry-put-away" // its segment is not attached
)

// skipped lists an entry that cannot be read in its place. It returns err where the export is not to go on.
func (in ExportInput) skipped(at ledger.Position, err error, fn func(view.Row) error) error {
	if !in.SkipDamaged {
		return err
	}
	why := "its bytes cannot be decoded"
	if r, ok := refusal.As(err); ok {
		why = r.Message
	}
	event := damaged
	if refusal.CodeOf(err) == refusal.Conflict { // see [stream.Unavailable]
		event = putAway
	} else if in.Skipped != nil {
		in.Skipped(uint64(at), err)
	}
	details, err := json.Marshal(map[string]string{"why": why})
	if err != nil {
		return err
	}
	return fn(view.Row{Position: at, Event: event, Details: details})
}

// Export writes records to w. The export is recorded before the first byte. Once bytes are written an error
// can only cut the export short.
func (h *History) Export(ctx context.Context, c caller.Caller, in ExportInput, w io.Writer) error {
	t, made, err := h.startExport(ctx, c, in)
	if err != nil {
		return h.access.Refused(ctx, c.Workspace, c.Actor(), "export", in.Task, err)
	}
	each, flush := view.Lines(w)
	switch in.Format {
	case view.FormatJSON:
		return h.exportDocument(ctx, c, t, in, w)
	case view.FormatProof:
		return h.exportProofs(ctx, c, t, in, made, w)
	case view.FormatCSV:
		each, flush = view.CSV(w)
	case view.FormatLines:
	}
	if err := h.eachEvent(ctx, c, t, in, each); err != nil {
		return err
	}
	return flush()
}

// startExport checks and records an export. It returns the task, or none for everything, and the entry that records it.
func (h *History) startExport(ctx context.Context, c caller.Caller, in ExportInput) (task.Task, ledger.Entry, error) {
	t, what, err := h.mayExport(ctx, c, in)
	if err != nil {
		return t, ledger.Entry{}, err
	}
	ev := access.Exported{What: what, Format: string(in.Format)}
	if in.Format == view.FormatProof {
		if ev.Counted, err = h.count(ctx, c, t, in); err != nil {
			return t, ledger.Entry{}, err
		}
	}
	made, err := h.access.AppendEntry(ctx, c.Workspace, c.Actor(), ev)
	return t, made, err
}

// mayExport checks an export. It returns the task, or none for everything, and what is recorded of it.
func (h *History) mayExport(ctx context.Context, c caller.Caller, in ExportInput) (t task.Task, what string, err error) {
	if in.Format == view.FormatProof {
		if err := h.hasTree(); err != nil {
			return t, "", err
		}
	}
	if in.Forgotten && !c.IsOperator() {
		return t, "", refusal.New(refusal.NotPermitted, "export without what was forgotten, or ask an operator", "%s may not export what was forgotten", c.Short())
	}
	what = "task " + in.Task
	if in.Task != "" {
		if t, err = h.subject(ctx, c, in); err != nil {
			return t, "", err
		}
	} else {
		if err := h.maySkip(c, in); err != nil {
			return t, "", err
		}
		if err := c.May(identity.ReadAudit, "export the whole record"); err != nil {
			return t, "", err
		}
		what = "everything"
		if in.Format == view.FormatJSON {
			return t, "", refusal.New(refusal.Invalid, "use jsonl or csv, or name a task", "the whole record is not one JSON document")
		}
	}
	if in.Forgotten {
		what += ", with what was forgotten"
	}
	if in.SkipDamaged {
		what += ", without damaged entries"
	} else if err := h.attached(ctx, in); err != nil {
		return t, "", err
	}
	return t, what, nil
}

// attached refuses an export of everything before its first byte if entries are put away in segments that are not there.
func (h *History) attached(ctx context.Context, in ExportInput) error {
	if in.Task != "" { // which is read before
		return nil
	}
	away, err := proof.Detached(ctx, h.ledger)
	if err == nil && len(away) > 0 {
		err = away[0].PutAway
	}
	if err != nil {
		return stream.Unavailable(err)
	}
	return nil
}

// maySkip refuses to go on after damaged entries to callers that may not read everything: how an entry is to be withheld cannot be told.
func (h *History) maySkip(c caller.Caller, in ExportInput) error {
	if !in.SkipDamaged {
		return nil
	}
	return c.May(identity.ReadAny, "read around damaged entries")
}

// subject is the task whose past is read. Of one whose state cannot be told, because entries are damaged that are to be skipped, there is the id.
func (h *History) subject(ctx context.Context, c caller.Caller, in ExportInput) (task.Task, error) {
	if err := h.maySkip(c, in); err != nil {
		return task.Task{}, err
	}
	t, err := h.tasks.For(ctx, c, in.Task)
	code := refusal.CodeOf(err)
	if (code == refusal.Unavailable || code == refusal.Conflict) && in.SkipDamaged && event.CheckTaskID(in.Task) == nil {
		return task.Task{ID: in.Task}, nil
	}
	return t.Task, err
}

func (h *History) exportDocument(ctx context.Context, c caller.Caller, t task.Task, in ExportInput, w io.Writer) error {
	tr, err := h.trail(ctx, c, t, in)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(tr)
}

// page returns the next entries of the record, and none only at its end.
func (h *History) page(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return ledger.Page(ctx, h.ledger, after, limit)
}

// eachEvent calls fn with the events of one task, or of the workspace up to the position it has now.
func (h *History) eachEvent(ctx context.Context, c caller.Caller, t task.Task, in ExportInput, fn func(view.Row) error) error {
	return h.eachEntry(ctx, c, t, in, func(e ledger.Entry) error { return view.EachRow(e, fn) }, fn)
}

// eachEntry calls fn with the entries of one task, or of the workspace up to the position it has now, as the caller reads them, and skip with the rows that stand for those
// that cannot be read.
func (h *History) eachEntry(ctx context.Context, c caller.Caller, t task.Task, in ExportInput, fn func(ledger.Entry) error, skip func(view.Row) error) error {
	last, err := h.ledger.Last(ctx)
	if err != nil {
		return stream.Unavailable(err)
	}
	read := h.page
	if t.ID != "" {
		read = func(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
			return h.ledger.Stream(ctx, taskstore.StreamOf(c.Workspace, t.ID), after, limit)
		}
	}
	visible, err := h.reader(ctx, c, t)
	if err != nil {
		return err
	}
	var after ledger.Position
	readable := h.memories.Reader()
	for after < last {
		if t.ID == "" { // an export of everything may take long: what is forgotten meanwhile is in no later page
			readable = h.memories.Reader()
		}
		entries, err := read(ctx, after, exportPage)
		bad, isDamaged := errors.AsType[*ledger.Damaged](err)
		switch {
		case err != nil && !isDamaged:
			return stream.Unavailable(err)
		case len(entries) == 0 && !isDamaged:
			return nil
		}
		for _, e := range entries {
			after = e.Position
			if workspace, _, _ := e.Stream.Parts(); workspace != c.Workspace {
				continue
			}
			if !in.Forgotten {
				own, err := readable(ctx, e)
				if err != nil && ctx.Err() == nil {
					err = in.skipped(e.Position, err, skip)
					if err == nil {
						continue
					}
				}
				if err != nil {
					return err
				}
				e = own
			}
			if err := fn(visible(e)); err != nil {
				return err
			}
		}
		if isDamaged {
			if err := in.skipped(bad.Position, stream.Unavailable(bad), skip); err != nil {
				return err
			}
			after = bad.Position
		}
	}
	return nil
}
