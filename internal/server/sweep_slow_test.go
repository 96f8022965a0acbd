//go:build slow

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

func TestArtifactsThatNothingRefersToGoAfterADay(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		record := ledgertest.NewDouble(ledgertest.Faults{Lag: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		views, err := sqlview.Follow(ctx, record, "")
		if err != nil {
			t.Fatal(err)
		}
		store, err := filestore.Open(dir, filestore.Options{MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		a, err := usecase.New(record, views.Store(), usecase.Options{Artifacts: store})
		if err != nil {
			t.Fatal(err)
		}
		swept := make(chan struct{})
		go func() {
			sweep(ctx, a.Artifacts, time.Hour, slog.New(slog.DiscardHandler))
			close(swept)
		}()
		c := caller.System("default", "test")
		put := func(content string) artifact.Digest {
			info, err := a.Artifacts.Put(ctx, c, strings.NewReader(content), "")
			if err != nil {
				t.Fatal(err)
			}
			return info.Digest
		}
		there := func(d artifact.Digest) bool {
			synctest.Wait()
			_, err := a.Artifacts.Info(ctx, c, d)
			if err != nil && refusal.CodeOf(err) != refusal.NotFound {
				t.Fatal(err)
			}
			return err == nil
		}
		loose, referred := put("loose"), put("referred")
		refer(t, record, referred)
		time.Sleep(23 * time.Hour)
		if !there(loose) || !there(referred) {
			t.Error("too early")
		}
		record.Break(errors.New("disk full")) // then nothing is deleted either: it could not be recorded
		time.Sleep(5 * time.Hour)
		if !there(loose) {
			t.Error("not recorded")
		}
		record.Break(nil)
		time.Sleep(2 * time.Hour)
		if there(loose) || !there(referred) {
			t.Error("after a day: what nothing refers to is there, or what something refers to is not")
		}
		time.Sleep(100 * 24 * time.Hour)
		if !there(referred) {
			t.Error("gone in spite of the reference")
		}
		cancel()
		<-swept
		if err := errors.Join(store.Close(), views.Close(), record.Close()); err != nil {
			t.Error(err)
		}
	})
}

// refer records a task whose envelope refers to an artifact.
func refer(t *testing.T, l ledger.Ledger, d artifact.Digest) {
	t.Helper()
	doc, err := json.Marshal(map[string]any{"artifacts": []map[string]string{{"digest": string(d)}}})
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("task_%026d", 1)
	events, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{
		event.Created{Task: id, Intent: "x", Requester: "agent/ann", At: time.Now()}, event.Sealed{Digest: "sha256:x", Bytes: doc},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := ledger.Entry{
		Stream: ledger.StreamOf("default", "task", id), Version: 1, Time: time.Now().UTC(), Actor: ledger.Actor{Principal: "agent/ann"}, Events: events,
	}
	if _, err := l.Append(t.Context(), e, 0); err != nil {
		t.Fatal(err)
	}
}
