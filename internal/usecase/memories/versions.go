package memories

import (
	"context"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/page"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Version is one version of a memory item.
type Version struct {
	Version int       `json:"version"`
	Title   string    `json:"title,omitempty"`
	Text    string    `json:"text"`
	Digest  string    `json:"digest"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// VersionsInput asks for the versions of a memory item.
type VersionsInput struct {
	ID    string
	After int // number of the last version of the page before
	Limit int // at most this many; 0 means 50
}

// Versions are some versions of a memory item, oldest first.
type Versions struct {
	ID       string
	Versions []Version
	Count    int // how many there are in all
	Position ledger.Position
}

// Versions gives the versions of a memory item that the caller may read as such: what an envelope grants is one
// version, not what was before. The read is recorded.
func (ms *Memories) Versions(ctx context.Context, c caller.Caller, in VersionsInput) (Versions, error) {
	out, err := ms.versions(ctx, c, in)
	if err != nil {
		return Versions{}, ms.access.Refused(ctx, c.Workspace, c.Actor(), "memory-versions", in.ID, err)
	}
	return out, nil
}

func (ms *Memories) versions(ctx context.Context, c caller.Caller, in VersionsInput) (Versions, error) {
	if err := c.May(identity.ReadOwn, "read memory"); err != nil {
		return Versions{}, err
	}
	if err := refusal.In("id", memory.CheckID(in.ID)); err != nil {
		return Versions{}, err
	}
	limit, err := page.Limit(in.Limit, usualPage)
	if err != nil {
		return Versions{}, err
	}
	f, err := ms.store.Load(ctx, StreamOf(c.Workspace, in.ID), true)
	if err != nil {
		return Versions{}, err
	}
	s, r := f.State, memory.Reader{Principal: c.Principal}
	if err := taskstore.Join(ctx, ms.store.tasks, c.Workspace, &r, s.Task); err != nil {
		return Versions{}, err
	}
	if !memory.MayRead(s, r) {
		return Versions{}, noItem(in.ID)
	}
	if s.Forgotten() {
		return Versions{}, refusal.New(refusal.NotFound, "[store a new item](memory add)", "memory item %s was forgotten on %s by %s",
			s.ID, s.ForgottenAt.UTC().Format(time.DateOnly), s.ForgottenBy)
	}
	out := Versions{ID: s.ID, Versions: []Version{}, Count: len(s.Versions), Position: f.Head}
	var items []string
	for _, v := range s.Versions[min(max(in.After, 0), len(s.Versions)):] {
		if len(items) == limit {
			break
		}
		out.Versions = append(out.Versions, Version{Version: v.Number, Title: v.Title, Text: v.Text, Digest: v.Digest, By: v.By, At: v.At})
		items = append(items, strconv.Itoa(v.Number))
	}
	return out, ms.access.ReadAll(ctx, c.Workspace, c.Actor(), s.Task, "versions of memory "+s.ID, items)
}
