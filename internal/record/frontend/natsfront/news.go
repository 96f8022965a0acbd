package natsfront

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/frontend"
)

// news is what front ends tell each other: how many milliseconds ago agents were heard of.
type news map[string]int64

// maxAgents is the greatest number of agents in a message.
const maxAgents = 1000

// Exchange implements [frontend.Store].
func (s *Store) Exchange(_ context.Context, agents map[string]time.Duration, within time.Duration) (map[string]time.Duration, error) {
	n := newsOf(agents)
	s.take(n)
	if err := s.tell(n); err != nil {
		return nil, err
	}
	return s.known(within), nil
}

func newsOf(agents map[string]time.Duration) news {
	n := news{}
	for agent, age := range agents {
		n[agent] = age.Milliseconds()
	}
	return n
}

// known returns how long ago agents were heard of, here or elsewhere, for those that were within a time.
func (s *Store) known(within time.Duration) map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	agents := map[string]time.Duration{}
	for agent, at := range s.agents {
		switch age := time.Since(at); {
		case age > frontend.Forgotten:
			delete(s.agents, agent)
		case age <= within:
			agents[agent] = age
		}
	}
	return agents
}

// tell sends news, in several messages if there are many.
func (s *Store) tell(n news) error {
	part := news{}
	for agent, age := range n {
		if part[agent] = age; len(part) == maxAgents {
			if err := s.send(part); err != nil {
				return err
			}
			part = news{}
		}
	}
	return s.send(part) // also an empty one: its error tells that the connection is lost
}

func (s *Store) send(n news) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return wrap(s.conn.Publish(s.topic, text))
}

// learn takes a message.
func (s *Store) learn(m *nats.Msg) {
	var n news
	if json.Unmarshal(m.Data, &n) == nil {
		s.take(n)
	}
}

func (s *Store) take(n news) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for agent, age := range n {
		if at := time.Now().Add(-time.Duration(age) * time.Millisecond); at.After(s.agents[agent]) {
			s.agents[agent] = at
		}
	}
}

// answer tells one that has begun to listen everything that is known.
func (s *Store) answer(*nats.Msg) {
	s.introduce()
	if n := newsOf(s.known(frontend.Forgotten)); len(n) > 0 {
		_ = s.tell(n) // the connection was lost, and what is news is told each second
	}
}
