package memories

import (
	"context"
	"encoding/hex"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/random"
)

// Memories is the use cases of memory items. Its methods are safe for many goroutines.
type Memories struct {
	store   *Store
	access  *access.Log
	random  *random.Source
	meaning meaning
	work    *quota.Work
	pins    sync.Mutex // held while an agent pins an item
}

// New returns the use cases of the memory items of a store. work bounds the searches of each principal.
func New(s *Store, log *access.Log, r *random.Source, o Options, work *quota.Work) (*Memories, error) {
	ms := &Memories{store: s, access: log, random: r, work: work, meaning: meaning{opts: o, failing: map[string]bool{}, vectors: map[string]progress{}}}
	var err error
	if ms.meaning.queries, err = quota.NewRate(queryCalls, queryBytes, s.now); err != nil {
		return nil, err
	}
	ms.meaning.items, err = quota.NewRate(itemCalls, itemBytes, s.now)
	return ms, err
}

// Item is a memory item as callers get it: one version of it, the newest unless another was asked for. Answers to changes
// leave the text out, and searches give an excerpt.
type Item struct {
	ID      string        `json:"id"`
	Version int           `json:"version,omitempty"`
	Title   string        `json:"title,omitempty"`
	Text    string        `json:"text,omitempty"`
	Excerpt string        `json:"excerpt,omitempty" doc:"In lists: what is around the first word that was searched for, or the beginning."`
	Digest  string        `json:"digest,omitempty" doc:"Of the version; with its number it makes a reference."`
	Status  memory.Status `json:"status" doc:"What has become of the version that was asked for."`
	Author  string        `json:"author" doc:"The principal that stored it."`
	// The rest is for those who may read the item as such, not only a version of it.
	Scope        memory.Scope    `json:"scope,omitempty"`
	Source       memory.Source   `json:"source,omitzero"`
	Task         string          `json:"task,omitempty"`
	Conversation string          `json:"conversation,omitempty"`
	Tags         []string        `json:"tags,omitempty"`
	Subject      string          `json:"subject,omitempty" doc:"What it is about: it can be erased by it."`
	Importance   float64         `json:"importance,omitempty"`
	Pinned       bool            `json:"pinned,omitempty" doc:"It goes into every envelope that may hold it, before others."`
	PinnedBy     string          `json:"pinned_by,omitempty" doc:"The principal that pinned it, or proposes to pin it."`
	Proposed     bool            `json:"proposed,omitempty" doc:"An agent has pinned it, and it is for the whole workspace: that counts once an operator pins it, too."`
	Versions     int             `json:"versions,omitempty" doc:"How many there are."`
	Created      time.Time       `json:"created,omitzero"`
	Updated      time.Time       `json:"updated,omitzero"`
	Forgotten    time.Time       `json:"forgotten,omitzero" doc:"Since when it gives out nothing."`
	ForgottenBy  string          `json:"forgotten_by,omitempty" doc:"The principal that had it forgotten, or erased: system/retention if the retention policy did."`
	Position     ledger.Position `json:"position,omitempty"`
	Repeat       bool            `json:"repeat,omitempty" doc:"This is the answer to the first call with the same key."`
}

// At returns the position up to which the answer is true.
func (x Item) At() ledger.Position { return x.Position }

// itemOf is an item without any text, for those who may read it.
func itemOf(s memory.State, at ledger.Position) Item {
	v := s.Latest()
	x := Item{
		ID: s.ID, Version: v.Number, Title: v.Title, Digest: v.Digest, Status: memory.Current, Author: s.Owner, Scope: s.Scope,
		Source: s.Source, Task: s.Task, Conversation: s.Conversation, Tags: s.Tags, Subject: s.Subject, Importance: s.Importance, Pinned: s.Pinning().Counts(), PinnedBy: s.PinnedBy, Proposed: s.Pinning() == memory.ProposedPin,
		Versions: len(s.Versions), Created: s.CreatedAt, Updated: s.UpdatedAt, Forgotten: s.ForgottenAt, ForgottenBy: s.ForgottenBy, Position: at,
	}
	if s.Forgotten() {
		x.Version, x.Digest, x.Status = 0, "", memory.Forgotten
	}
	return x
}

// answer is what a change came to. A repeated call is answered as the first was, unless the item was forgotten since.
func (ms *Memories) answer(ctx context.Context, at ledger.Stream, o stream.Outcome[memory.State]) (Item, error) {
	s := o.State
	if o.Repeat {
		f, err := ms.store.Load(ctx, at, true)
		if err != nil {
			return Item{}, err
		}
		if f.State.Forgotten() {
			s = &f.State
		}
	}
	x := itemOf(*s, o.At)
	x.Repeat = o.Repeat
	return x, nil
}

// salt is chance for a version's digest.
func (ms *Memories) salt() (string, error) {
	var salt [16]byte
	err := ms.random.Fill(salt[:])
	return hex.EncodeToString(salt[:]), err
}
