package memory

import "slices"

// Fold returns the state after an event. It never refuses; events of other packages change nothing.
func Fold(s State, e Event) State {
	switch e := e.(type) {
	case ItemStored:
		s = State{
			ID: e.ID, Scope: e.Scope, Owner: e.Owner, Source: e.Source, Task: e.Task, Conversation: e.Conversation,
			Tags: e.Tags, Subject: e.Subject, Importance: e.Importance, Pinned: e.Pinned, Versions: []Version{e.Version},
			CreatedAt: e.Version.At, UpdatedAt: e.Version.At,
		}
		if e.Pinned {
			s.PinnedBy = e.Owner
		}
	case ItemRevised:
		s.Versions = append(slices.Clip(s.Versions), e.Version)
		s.UpdatedAt = e.Version.At
		if s.Pinned && Unsettles(e.Version.By) {
			s.PinnedBy = e.Version.By
		}
	case ItemPinned:
		s.Pinned, s.PinnedBy, s.UpdatedAt = true, e.By, e.At
	case ItemUnpinned:
		s.Pinned, s.PinnedBy, s.UpdatedAt = false, "", e.At
	case ItemTagged:
		s.Tags, s.UpdatedAt = e.Tags, e.At
	case ItemWeighed:
		s.Importance, s.UpdatedAt = e.Importance, e.At
	case ItemForgotten:
		// Tags and titles are content too. What stays says that something was there, and when, not what.
		s.Tags, s.Pinned, s.PinnedBy, s.UpdatedAt = nil, false, "", e.At
		s.ForgottenAt, s.ForgottenBy = e.At, e.By
		s.Versions = slices.Clone(s.Versions)
		for i := range s.Versions {
			v := &s.Versions[i]
			v.Title, v.Text, v.Salt = "", "", ""
		}
	}
	return s
}
