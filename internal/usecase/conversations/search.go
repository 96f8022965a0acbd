package conversations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

const (
	maxSearchText = 200      // bytes of the words of a search
	maxSearched   = 16 << 20 // bytes of turns after which a search begins with no further conversation
	maxFoundTurns = 3        // of each conversation
)

// search looks for words in conversations. There is no index of turns: it would cost time at each turn, and people search seldom.
type search struct {
	*Conversations
	caller caller.Caller
	words  []string // in lower case; empty: any conversation will do
	looked int      // bytes
}

func (cs *Conversations) newSearch(c caller.Caller, text string) *search {
	return &search{Conversations: cs, caller: c, words: strings.Fields(strings.ToLower(text))}
}

// tired reports whether the search has read enough for one call.
func (s *search) tired() bool { return s.looked > maxSearched }

// find reports whether a conversation has each of the words, and gives its last turns that have some of them.
func (s *search) find(ctx context.Context, state conversation.State) (turns []conversation.Turn, is bool, err error) {
	if len(s.words) == 0 {
		return nil, true, nil
	}
	missing := slices.Clone(s.words)
	has := func(text string) (one bool) {
		text = strings.ToLower(text)
		one = slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(text, w) })
		missing = slices.DeleteFunc(missing, func(w string) bool { return strings.Contains(text, w) })
		return one
	}
	has(conversationid.Name(state.ID))
	for _, speaker := range state.Speakers {
		has(speaker.Agent)
	}
	by, err := s.store.Partner(ctx, s.caller.Workspace, memory.Reader{Principal: s.caller.Principal}, state)
	if err != nil {
		return nil, false, err
	}
	for after := 0; after < state.Turns; {
		list, err := s.store.views.Turns(ctx, s.caller.Workspace, state.ID, after, view.MaxPage)
		if err != nil {
			return nil, false, stream.Unavailable(err)
		}
		if len(list) == 0 {
			break
		}
		after = list[len(list)-1].N
		for _, turn := range readable(state, by, list) {
			s.looked += len(turn.Text)
			if has(turn.Text) {
				turns = append(turns, turn)
			}
		}
		turns = turns[max(len(turns)-maxFoundTurns, 0):]
	}
	return turns, len(missing) == 0, nil
}

// record records what a search gives as one read.
func (s *search) record(ctx context.Context, found []Conversation) error {
	var items []string
	for _, c := range found {
		for _, t := range c.Turns {
			items = append(items, fmt.Sprintf("%s@%d", c.ID, t.N))
		}
	}
	return s.access.ReadList(ctx, s.caller.Workspace, s.caller.Actor(), "search of conversations", items)
}
