package conversation

import "slices"

// Event is a fact about one conversation. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{TurnAppended{}}

// TurnAppended is one more turn. The first one begins the conversation.
type TurnAppended struct {
	Conversation string `json:"conversation"`
	Turn         Turn   `json:"turn"`
}

// EventName is "conversation-turn".
func (TurnAppended) EventName() string { return "conversation-turn" }

// Fold returns the state after a fact. It never refuses; events of other rooms change nothing.
func Fold(s State, e Event) State {
	a, ok := e.(TurnAppended)
	if !ok {
		return s
	}
	if !s.Exists() {
		s.First, s.Request = a.Turn, a.Turn
	}
	if s.Request.Role != User && a.Turn.Role == User {
		s.Request = a.Turn
	}
	s.ID = a.Conversation
	s.Agents = withNew(s.Agents, a.Turn.Agent)
	s.Tasks = withNew(s.Tasks, a.Turn.Task)
	s.Handoffs = withNew(s.Handoffs, a.Turn.Handoff)
	s.Bytes += len(a.Turn.Text)
	s.UpdatedAt = a.Turn.At
	s.newest = &node{turn: a.Turn, count: s.Len() + 1, before: s.newest}
	return s
}

func withNew(set []string, v string) []string {
	if v == "" || slices.Contains(set, v) {
		return set
	}
	return append(slices.Clip(set), v)
}
