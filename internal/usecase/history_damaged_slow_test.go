//go:build slow

package usecase_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// damagedLedger has one entry that cannot be decoded.
type damagedLedger struct {
	ledger.Ledger
	at ledger.Position
}

func (d damagedLedger) upTo(list []ledger.Entry, err error) ([]ledger.Entry, error) {
	if i := slices.IndexFunc(list, func(e ledger.Entry) bool { return e.Position == d.at }); i >= 0 {
		return list[:i], &ledger.Damaged{Position: d.at, Err: errors.New("its bytes")}
	}
	return list, err
}

func (d damagedLedger) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return d.upTo(d.Ledger.Read(ctx, after, limit))
}

func (d damagedLedger) Stream(ctx context.Context, s ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error) {
	return d.upTo(d.Ledger.Stream(ctx, s, after, limit))
}

// unreadable are memories that cannot be read in one entry.
type unreadable struct {
	nothing
	at ledger.Position
}

func (u unreadable) Reader() func(context.Context, ledger.Entry) (ledger.Entry, error) {
	return func(_ context.Context, e ledger.Entry) (ledger.Entry, error) {
		if e.Position == u.at {
			return e, errors.New("the envelope cannot be opened")
		}
		return e, nil
	}
}

func TestAnExportNamesADamagedEntryAndCanGoOnAfterIt(t *testing.T) {
	for name, damage := range map[string]func(h *historyHarness, at ledger.Position) (ledger.Ledger, history.Memories){
		"an entry": func(h *historyHarness, at ledger.Position) (ledger.Ledger, history.Memories) {
			return damagedLedger{h.log, at}, nothing{}
		},
		"an envelope": func(h *historyHarness, at ledger.Position) (ledger.Ledger, history.Memories) {
			return h.log, unreadable{at: at}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := openHistory(t)
			h.create(agentOf("bob"), "task_06h0er7018ff0g2mznftzvjt3g")
			list, err := h.log.Stream(t.Context(), taskstore.StreamOf(identity.DefaultWorkspace, taskID), 0, 10)
			if err != nil || len(list) == 0 {
				t.Fatal(list, err)
			}
			at := list[0].Position
			log, memories := damage(h, at)
			reads, err := access.New(log, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			store, err := taskstore.New(log, reads, presence.New(time.Now), time.Now, 16, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			damaged := must(history.New(log, store, reads, nothing{}, memories, nil, nothing{}, nil, nil, nil, time.Now))
			operator := who(identity.Operator, "kim")
			for _, task := range []string{"", taskID} {
				for _, format := range []view.Format{view.FormatLines, view.FormatCSV, view.FormatJSON} {
					if task == "" && format == view.FormatJSON {
						continue // is of one task
					}
					var out bytes.Buffer
					in := history.ExportInput{Task: task, Format: format}
					err := damaged.Export(t.Context(), operator, in, &out)
					if r, ok := refusal.As(err); err == nil || name == "an entry" && (!ok || r.Details["position"] != at || len(r.Helps) != 1 || r.Helps[0].Command() != "trapeze audit export --skip-damaged") {
						t.Errorf("%q as %s: %v", task, format, err)
					}
					out.Reset()
					var skipped []ledger.Position
					in.SkipDamaged, in.Skipped = true, func(at uint64, _ error) { skipped = append(skipped, ledger.Position(at)) }
					if err := damaged.Export(t.Context(), operator, in, &out); err != nil {
						t.Errorf("%q as %s, around it: %v", task, format, err)
					}
					if strings.Count(out.String(), "entry-damaged") != 1 || !slices.Equal(skipped, []ledger.Position{at}) {
						t.Errorf("%q as %s skips %v and lists\n%s", task, format, skipped, out.String())
					}
					if task == "" && !strings.Contains(out.String(), "task_06h0er7018ff0g2mznftzvjt3g") {
						t.Errorf("what follows is lost:\n%s", out.String())
					}
				}
			}
			tr, err := damaged.TrailAround(t.Context(), operator, history.ExportInput{Task: taskID, SkipDamaged: true})
			if err != nil || len(tr.Entries) == 0 || tr.Entries[0].Event != "entry-damaged" || tr.Entries[0].Position != at {
				t.Errorf("the trail around it: %+v, %v", tr, err)
			}
			if _, err := damaged.Trail(t.Context(), operator, taskID); err == nil {
				t.Error("a trail says nothing of what is lost")
			}
			in := history.ExportInput{Task: taskID, Format: view.FormatLines, SkipDamaged: true}
			if err := damaged.Export(t.Context(), agentOf("ann"), in, &bytes.Buffer{}); refusal.CodeOf(err) != refusal.NotPermitted {
				t.Errorf("an agent exports around it: %v", err)
			}
		})
	}
}
