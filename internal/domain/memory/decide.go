package memory

import (
	"slices"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Decide returns the events of a command on an item at the time now. No events and no error mean that nothing changes. Refusals: invalid and too_large for what breaks a rule on its own, not_found for an item that is not there
// or that the caller may not read, not_permitted for one that it may only read, conflict for one that was forgotten or
// has changed, limit for one with too many versions.
func Decide(s State, c Command, now time.Time) ([]Event, error) {
	id, by := c.item()
	if by.IsZero() {
		return nil, refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	if s.Exists() && id != s.ID {
		return nil, refusal.New(refusal.Invalid, "load the item that the command names", "a command for another item reached %s", s.ID)
	}
	if c, ok := c.(Remember); ok {
		return decideRemember(s, c, now.UTC())
	}
	if err := checkChange(s, id, by); err != nil {
		return nil, err
	}
	if c, ok := c.(Forget); ok {
		if s.Forgotten() {
			return nil, nil
		}
		return []Event{ItemForgotten{By: c.By.String(), At: now.UTC()}}, nil
	}
	if s.Forgotten() {
		return nil, refusal.New(refusal.Conflict, "[store a new item](memory add)", "item %s was forgotten", s.ID)
	}
	return decideChange(s, c, now.UTC())
}

// checkChange refuses a change. An item that the principal may not read is not_found, as if it did not exist.
func checkChange(s State, id string, by Reader) error {
	switch {
	case MayChange(s, by):
		return nil
	case MayRead(s, by):
		return refusal.New(refusal.NotPermitted, "[store an item of your own](memory add), or ask its author or an operator",
			"only its author %s may change item %s", event.Bare(s.Owner), s.ID)
	}
	return refusal.New(refusal.NotFound, "[search for items](memory search) that you may read", "there is no item %s", strconv.QuoteToASCII(refusal.Clip(id, 80)))
}

func decideChange(s State, c Command, now time.Time) ([]Event, error) {
	switch c := c.(type) {
	case Revise:
		return decideRevise(s, c, now)
	case Pin:
		if by := c.By.String(); s.Pinned && (PinnedFor(Private, s.PinnedBy) == OperatorPin || PinnedFor(Private, by) == AgentPin) {
			return nil, nil // an operator can make an agent's pin its own, and not the other way round
		}
		return []Event{ItemPinned{By: c.By.String(), At: now}}, nil
	case Unpin:
		if !s.Pinned {
			return nil, nil
		}
		return []Event{ItemUnpinned{By: c.By.String(), At: now}}, nil
	case Tag:
		tags, err := normalTags(c.Tags)
		if err != nil || slices.Equal(tags, s.Tags) {
			return nil, err
		}
		return []Event{ItemTagged{Tags: tags, By: c.By.String(), At: now}}, nil
	case Weigh:
		if err := checkImportance(c.Importance); err != nil || c.Importance == s.Importance {
			return nil, err
		}
		return []Event{ItemWeighed{Importance: c.Importance, By: c.By.String(), At: now}}, nil
	}
	return nil, refusal.New(refusal.Invalid, "", "unknown command %T", c)
}

func decideRemember(s State, c Remember, now time.Time) ([]Event, error) {
	tags, err := c.check()
	if err != nil {
		return nil, err
	}
	if s.Exists() {
		if !s.Forgotten() && c.repeats(s) {
			return nil, nil
		}
		return nil, refusal.New(refusal.Conflict, "[revise the item](memory revise) if it is yours, or [store this one](memory add) under a new id",
			"the id %s is taken", c.ID)
	}
	return []Event{ItemStored{
		ID: c.ID, Scope: c.Scope, Owner: c.By.String(), Source: c.Source, Task: c.Task, Conversation: c.Conversation,
		Tags: tags, Subject: c.Subject, Importance: c.Importance, Pinned: c.Pinned,
		Version: c.Content.version(1, c.By.String(), now),
	}}, nil
}

// repeats reports whether the same author has stored the same before. What happened to the item since does not count.
func (c Remember) repeats(s State) bool {
	first := s.Versions[0]
	return c.By.String() == s.Owner && c.Scope == s.Scope && c.Source == s.Source && c.Task == s.Task &&
		c.Conversation == s.Conversation && c.Content.Title == first.Title && c.Content.Text == first.Text
}

func decideRevise(s State, c Revise, now time.Time) ([]Event, error) {
	if err := c.Content.check(); err != nil {
		return nil, err
	}
	latest := s.Latest()
	if c.Content.Title == "" {
		c.Content.Title = latest.Title
	}
	switch {
	case c.Content.Title == latest.Title && c.Content.Text == latest.Text:
		return nil, nil // also for a repeated call whose Expect is over by now
	case c.Expect != 0 && c.Expect != latest.Number:
		return nil, refusal.New(refusal.Conflict, "[read the newest version](memory get) and [revise that](memory revise)",
			"item %s is at version %d, not %d", s.ID, latest.Number, c.Expect).With("version", latest.Number)
	case len(s.Versions) >= MaxVersions:
		return nil, refusal.New(refusal.Limit, "[store a new item](memory add), and [forget this one](memory forget) if it is not needed any more",
			"item %s has %d versions already", s.ID, len(s.Versions))
	case s.bytes()+len(c.Content.Title)+len(c.Content.Text) > MaxItem:
		return nil, refusal.New(refusal.Limit, "[store a new item](memory add), and [forget this one](memory forget) if it is not needed any more",
			"the versions of item %s would have more than %d bytes together", s.ID, MaxItem)
	}
	return []Event{ItemRevised{Version: c.Content.version(latest.Number+1, c.By.String(), now)}}, nil
}

func (c Content) version(n int, by string, at time.Time) Version {
	return Version{
		Number: n, Title: c.Title, Text: c.Text, Salt: c.Salt, Digest: DigestOf(c.Salt, c.Title, c.Text), By: by, At: at,
	}
}
