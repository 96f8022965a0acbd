package artifacts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/artifacttest"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// harness is the artifacts over a ledger, its views and a store. The agent in readers may read the envelopes of a task.
type harness struct {
	*testing.T
	artifacts *artifacts.Artifacts
	ledger    *ledgertest.Double
	views     *sqlview.Views
	store     *filestore.Store
	dir       string
	clock     *artifacttest.Clock
	readers   map[string]string // agent by task
}

const home = identity.DefaultWorkspace

func open(t *testing.T) *harness {
	t.Helper()
	h := &harness{T: t, ledger: ledgertest.NewDouble(ledgertest.Faults{}), dir: t.TempDir(), clock: artifacttest.NewClock(), readers: map[string]string{}}
	var err error
	if h.views, err = sqlview.Follow(context.Background(), h.ledger, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(h.views.Close(), h.ledger.Close()); err != nil {
			t.Error(err)
		}
	})
	if h.store, err = filestore.Open(h.dir, filestore.Options{MaxSize: 1 << 20, MinFree: -1, Now: h.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	h.restart()
	return h
}

// restart makes artifacts that remembers nothing.
func (h *harness) restart() {
	h.Helper()
	log, err := access.New(h.ledger, h.clock.Now)
	if err != nil {
		h.Fatal(err)
	}
	if h.artifacts, err = artifacts.New(h.store, h.ledger, h.views.Store(), log, h, h.clock.Now, artifacts.Options{Grace: time.Hour}); err != nil {
		h.Fatal(err)
	}
}

// Mentions implements [artifacts.Tasks].
func (h *harness) Mentions(_ context.Context, c caller.Caller, task, _ string) (bool, error) {
	return h.readers[task] == c.Agent(), nil
}

func as(role identity.Role, name string) caller.Caller {
	return caller.Caller{Principal: identity.Principal{Workspace: home, Role: role, Name: name}}
}

var (
	ann  = as(identity.Agent, "ann")
	bob  = as(identity.Agent, "bob")
	cy   = as(identity.Agent, "cy")
	olga = as(identity.Operator, "olga")
)

func (h *harness) put(c caller.Caller, content string) artifact.Digest {
	h.Helper()
	info, err := h.artifacts.Put(h.Context(), c, strings.NewReader(content), "")
	if err != nil || info.Digest != artifact.DigestOf([]byte(content)) || info.Size != int64(len(content)) {
		h.Fatalf("put %.20q: %+v, %v", content, info, err)
	}
	return info.Digest
}

func (h *harness) get(c caller.Caller, d artifact.Digest) (string, error) {
	h.Helper()
	r, info, err := h.artifacts.Get(h.Context(), c, d)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	if err == nil && (info.Digest != d || info.Size != int64(len(b))) {
		h.Errorf("%d bytes of %+v", len(b), info)
	}
	return string(b), errors.Join(err, r.Close())
}

func (h *harness) finds(c caller.Caller, d artifact.Digest, want string) {
	h.Helper()
	if got, err := h.get(c, d); err != nil || got != want {
		h.Errorf("%s finds %.20q, %v; want %.20q", c.Principal, got, err, want)
	}
	if info, err := h.artifacts.Info(h.Context(), c, d); err != nil || info.Size != int64(len(want)) {
		h.Errorf("%s is told of %+v, %v", c.Principal, info, err)
	}
}

func (h *harness) misses(c caller.Caller, d artifact.Digest) {
	h.Helper()
	_, err := h.get(c, d)
	none := artifact.NotFound(artifact.Key{Workspace: c.Workspace, Digest: d})
	if err == nil || err.Error() != none.Error() {
		h.Errorf("%s finds %.20s: %v", c.Principal, d, err)
	}
	if _, err := h.artifacts.Info(h.Context(), c, d); err == nil || err.Error() != none.Error() {
		h.Errorf("%s is told of %.20s: %v", c.Principal, d, err)
	}
}

// refer records a task of an agent whose envelope refers to artifacts.
func (h *harness) refer(n int, requester caller.Caller, digests ...artifact.Digest) string {
	h.Helper()
	id := fmt.Sprintf("task_%026d", n)
	list := []map[string]string{}
	for _, d := range digests {
		list = append(list, map[string]string{"digest": string(d)})
	}
	doc, err := json.Marshal(map[string]any{"artifacts": list})
	if err != nil {
		h.Fatal(err)
	}
	events, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{
		event.Created{Task: id, Intent: "x", Requester: requester.String(), At: h.clock.Now()},
		event.Sealed{Digest: "sha256:x", Bytes: doc},
	})
	if err != nil {
		h.Fatal(err)
	}
	e := ledger.Entry{
		Stream: ledger.StreamOf(requester.Workspace, "task", id), Version: 1, Time: h.clock.Now(), Actor: requester.Actor(), Events: events,
	}
	if _, err := h.ledger.Append(h.Context(), e, 0); err != nil {
		h.Fatal(err)
	}
	return id
}

func (h *harness) sweep() artifact.Swept {
	h.Helper()
	swept, err := h.artifacts.Sweep(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	return swept
}

// record lists "stream event data" of the entries that are not of tasks.
func (h *harness) record() (lines []string) {
	h.Helper()
	entries, err := h.ledger.Read(h.Context(), 0, 10_000)
	if err != nil {
		h.Fatal(err)
	}
	for _, e := range entries {
		if _, kind, _ := e.Stream.Parts(); kind != "task" {
			for _, ev := range e.Events {
				lines = append(lines, fmt.Sprintf("%s by %s: %s %s", e.Stream, e.Actor.Principal, ev.Name, ev.Data))
			}
		}
	}
	return lines
}

// recorded checks that something is recorded a number of times.
func (h *harness) recorded(times int, words ...string) {
	h.Helper()
	n := 0
	for _, line := range h.record() {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			n++
		}
	}
	if n != times {
		h.Errorf("%q is recorded %d times, want %d:\n%s", words, n, times, strings.Join(h.record(), "\n"))
	}
}

func (h *harness) refused(err error, code refusal.Code) {
	h.Helper()
	if r, ok := refusal.As(err); !ok || r.Code != code || r.Hint == "" {
		h.Errorf("%v, want %s with a hint", err, code)
	}
}

// files counts what is in the store, unfinished ones too.
func (h *harness) files() (n int) {
	h.Helper()
	err := filepath.WalkDir(h.dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return n
}
