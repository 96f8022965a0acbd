package memories

import (
	"context"
	"slices"
	"strconv"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// MemoryInput names a memory item, or one version of it.
type MemoryInput struct {
	ID string
	// Version and Digest are a reference's, as an envelope has it: the answer's status says what has become of that
	// version. Those who may read the item get its newest; those that an envelope grants the version get that one.
	// A Version without a digest asks for that version itself. Neither: the newest.
	Version int
	Digest  string
	// Task is the one whose envelope refers to it, for those who can read it by that alone. Left out: the newest of the
	// tasks that the caller holds are looked through.
	Task string
}

// Show gives a memory item that the caller may read. The read is recorded. Of a forgotten one the answer says that it
// was, and nothing else.
func (ms *Memories) Show(ctx context.Context, c caller.Caller, in MemoryInput) (Item, error) {
	x, err := ms.show(ctx, c, in)
	if err != nil {
		return Item{}, ms.access.Refused(ctx, c.Workspace, c.Actor(), "memory", in.ID, err)
	}
	return x, nil
}

func (ms *Memories) show(ctx context.Context, c caller.Caller, in MemoryInput) (Item, error) {
	if err := c.May(identity.ReadOwn, "read memory"); err != nil {
		return Item{}, err
	}
	ref := memory.Reference{ID: in.ID, Version: in.Version, Digest: in.Digest}
	if in.Digest == "" {
		ref.Version = 0
	}
	if err := ref.Check(); err != nil {
		return Item{}, err
	}
	if in.Version < 0 {
		return Item{}, refusal.New(refusal.Invalid, "versions are numbered from 1", "there is no version %d", in.Version)
	}
	f, err := ms.store.Load(ctx, StreamOf(c.Workspace, in.ID), true)
	if err != nil {
		return Item{}, err
	}
	r, via, err := ms.store.readerOf(ctx, c, f.State, in.Task)
	if err != nil {
		return Item{}, err
	}
	x := given(f.State, r, ref, in.Version)
	if x.Status == memory.Missing {
		return Item{}, noItem(in.ID)
	}
	x.Position = f.Head
	if x.Status == memory.Forgotten {
		return x, nil
	}
	if via == "" {
		via = f.State.Task
	}
	return x, ms.access.Read(ctx, c.Workspace, c.Actor(), via, "memory "+x.ID+" version "+strconv.Itoa(x.Version), x.Digest)
}

func noItem(id string) error {
	return refusal.New(refusal.NotFound, "[search for items](memory search) that you may read; [name the task](.task) whose envelope refers to it",
		"there is no memory item %s that you may read", strconv.QuoteToASCII(refusal.Clip(id, 80)))
}

// given is what a reader gets for a reference, or for a version that it asks for by its number alone.
func given(s memory.State, r memory.Reader, ref memory.Reference, version int) Item {
	mayRead := memory.MayRead(s, r)
	if ref.Digest == "" && !mayRead { // it has nothing but what is granted, so that is what it means
		i := slices.IndexFunc(r.Granted, func(g memory.Reference) bool { return g.ID == ref.ID && (version == 0 || g.Version == version) })
		if i < 0 {
			return Item{Status: memory.Missing}
		}
		ref = r.Granted[i]
	}
	v, status := memory.Fetch(s, r, ref)
	if mayRead && ref.Digest == "" && version > 0 && status != memory.Forgotten {
		var there bool
		if v, there = s.Version(version); !there {
			return Item{Status: memory.Missing}
		}
		if status = memory.Current; version < len(s.Versions) {
			status = memory.Changed
		}
	}
	if status == memory.Missing {
		return Item{Status: status}
	}
	x := Item{ID: s.ID, Author: s.Owner}
	if mayRead {
		x = itemOf(s, 0)
	}
	x.Version, x.Title, x.Text, x.Digest, x.Status = v.Number, v.Title, v.Text, v.Digest, status
	return x
}
