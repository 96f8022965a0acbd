package conversation

import (
	"maps"
	"slices"
	"time"
)

// Event is an event of one conversation. The set is sealed by [Events].
type Event interface{ EventName() string }

// Events holds one of each event, for codecs.
var Events = []Event{TurnAppended{}}

// TurnAppended is one more turn. The first one begins the conversation.
type TurnAppended struct {
	Conversation string `json:"conversation"`
	Turn         Turn   `json:"turn"`
	// Since is of the first turn of an agent that was given a task of the conversation by a cold handoff: it reads no turn from before. Zero: it reads all.
	Since time.Time `json:"since,omitzero"`
	// Subject is what the conversation is about, if the turn is the first to say so.
	Subject string `json:"subject,omitempty"`
}

// EventName is "conversation-turn".
func (TurnAppended) EventName() string { return "conversation-turn" }

// Fold returns the state after an event. It never refuses; events of other packages change nothing.
func Fold(s State, e Event) State {
	a, ok := e.(TurnAppended)
	if !ok {
		return s
	}
	t := a.Turn
	if s.Subject == "" {
		s.Subject = a.Subject
	}
	if !s.Exists() {
		s.ID, s.CreatedAt = a.Conversation, t.At
	}
	s.Turns++
	if s.Request == 0 && t.Role == User {
		s.Request = s.Turns
	}
	if !s.Spoke(t.Agent) {
		s.Since = since(s.Since, t.Agent, a.Since)
	}
	if !slices.Contains(s.Tasks, t.Task) { // those that get the task read no more than the agent that brought it here
		s.TaskSince = since(s.TaskSince, t.Task, s.Since[t.Agent])
	}
	s.Speakers = withTurn(s.Speakers, t.Agent)
	s.Tasks = withNew(s.Tasks, t.Task)
	s.Handoffs = withNew(s.Handoffs, t.Handoff)
	s.Bytes += len(t.Text)
	s.UpdatedAt = t.At
	return s
}

// since is a map with one more time, unless that is zero.
func since(of map[string]time.Time, key string, at time.Time) map[string]time.Time {
	if key == "" || at.IsZero() {
		return of
	}
	of = maps.Clone(of)
	if of == nil {
		of = map[string]time.Time{}
	}
	of[key] = at
	return of
}

// withTurn counts a turn of an agent.
func withTurn(speakers []Speaker, agent string) []Speaker {
	if agent == "" {
		return speakers
	}
	i := slices.IndexFunc(speakers, func(s Speaker) bool { return s.Agent == agent })
	if i < 0 {
		return append(slices.Clip(speakers), Speaker{Agent: agent, Turns: 1})
	}
	speakers = slices.Clone(speakers)
	speakers[i].Turns++
	return speakers
}

func withNew(set []string, v string) []string {
	if v == "" || slices.Contains(set, v) {
		return set
	}
	return append(slices.Clip(set), v)
}
