package app

import (
	"context"
	"encoding/json"
	"io"

	"github.com/trapezehq/trapeze/internal/access"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/stream"
	"github.com/trapezehq/trapeze/internal/view"
)

// exportPage is how many entries are read at a time.
const exportPage = 500

// Trail gives a task's whole history. It is on record before it is answered.
func (a *App) Trail(ctx context.Context, c Caller, task string) (*view.Trail, error) {
	if _, err := a.taskFor(ctx, c, task); err != nil {
		return nil, a.access.Refused(ctx, c.who(), "trail", task, err)
	}
	if err := a.access.Read(ctx, c.who(), task, "trail", ""); err != nil {
		return nil, err
	}
	return a.trail(ctx, c.Workspace, task)
}

func (a *App) trail(ctx context.Context, workspace, task string) (*view.Trail, error) {
	tr := view.NewTrail(task)
	err := stream.Each(ctx, a.ledger, taskStream(workspace, task), func(e ledger.Entry) error {
		return tr.Add(e, a.tasks.Codec())
	})
	return tr, err
}

// ExportInput says what to export.
type ExportInput struct {
	Task   string // one task; empty: every entry of the workspace, for those who may read the audit
	Format view.Format
}

// Export writes records to w. That it was done is on record before the first byte. Once bytes are written an error
// can only cut the export short.
func (a *App) Export(ctx context.Context, c Caller, in ExportInput, w io.Writer) error {
	if err := a.startExport(ctx, c, in); err != nil {
		return a.access.Refused(ctx, c.who(), "export", in.Task, err)
	}
	if in.Format == view.FormatJSON {
		return a.exportDocument(ctx, c, in, w)
	}
	each, flush := view.Lines(w)
	if in.Format == view.FormatCSV {
		each, flush = view.CSV(w)
	}
	if err := a.eachEvent(ctx, c, in, each); err != nil {
		return err
	}
	return flush()
}

func (a *App) startExport(ctx context.Context, c Caller, in ExportInput) error {
	what := "task " + in.Task
	if in.Task != "" {
		if _, err := a.taskFor(ctx, c, in.Task); err != nil {
			return err
		}
	} else {
		if err := c.may(identity.ReadAudit, "export the whole record"); err != nil {
			return err
		}
		what = "everything"
		if in.Format == view.FormatJSON {
			return refusal.New(refusal.Invalid, "use jsonl or csv, or name a task", "the whole record is not one JSON document")
		}
	}
	return a.access.Append(ctx, c.who(), access.Exported{What: what, Format: string(in.Format)})
}

func (a *App) exportDocument(ctx context.Context, c Caller, in ExportInput, w io.Writer) error {
	tr, err := a.trail(ctx, c.Workspace, in.Task)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(tr)
}

// eachEvent calls fn with the events of one task, or of the workspace up to the position it has now.
func (a *App) eachEvent(ctx context.Context, c Caller, in ExportInput, fn func(view.Row) error) error {
	last, err := a.ledger.Last(ctx)
	if err != nil {
		return stream.Unavailable(err)
	}
	read := a.ledger.Read
	if in.Task != "" {
		read = func(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
			return a.ledger.Stream(ctx, taskStream(c.Workspace, in.Task), after, limit)
		}
	}
	var after ledger.Position
	for after < last {
		entries, err := read(ctx, after, exportPage)
		if err != nil {
			return stream.Unavailable(err)
		}
		if len(entries) == 0 {
			return nil
		}
		for _, e := range entries {
			after = e.Position
			if workspace, _, _ := e.Stream.Parts(); workspace != c.Workspace {
				continue
			}
			if err := view.EachRow(e, fn); err != nil {
				return err
			}
		}
	}
	return nil
}
