package natsfront

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/frontend"
)

// message is what front ends tell each other.
type message struct {
	Members []told           `json:"members,omitempty"`
	Agents  map[string]int64 `json:"agents,omitempty"` // milliseconds since they were heard of
}

// told is a member and its age in milliseconds.
type told struct {
	frontend.Member
	Milliseconds int64 `json:"age"`
}

// maxAgents is the greatest number of agents in a message.
const maxAgents = 1000

// Exchange implements [frontend.Store].
func (s *Store) Exchange(_ context.Context, self frontend.Member, agents map[string]time.Duration, within time.Duration) (frontend.News, error) {
	m := message{Members: []told{{Member: self}}, Agents: map[string]int64{}}
	for agent, age := range agents {
		m.Agents[agent] = age.Milliseconds()
	}
	s.take(m)
	if err := s.tell(m); err != nil {
		return frontend.News{}, err
	}
	return s.known(within), nil
}

// known returns what was told, by this front end or others.
func (s *Store) known(within time.Duration) frontend.News {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := frontend.News{Agents: map[string]time.Duration{}}
	for agent, at := range s.agents {
		switch age := time.Since(at); {
		case age > frontend.Forgotten:
			delete(s.agents, agent)
		case age <= within:
			news.Agents[agent] = age
		}
	}
	for name, m := range s.members {
		if m.Age = time.Since(m.at); m.Age > frontend.Forgotten {
			delete(s.members, name)
			continue
		}
		news.Members = append(news.Members, m.Member)
	}
	return news
}

// tell sends a message, in several if it has many agents.
func (s *Store) tell(m message) error {
	part := message{Members: m.Members, Agents: map[string]int64{}}
	for agent, age := range m.Agents {
		if part.Agents[agent] = age; len(part.Agents) == maxAgents {
			if err := s.send(part); err != nil {
				return err
			}
			part = message{Agents: map[string]int64{}}
		}
	}
	return s.send(part)
}

func (s *Store) send(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return wrap(s.conn.Publish(s.topic, text))
}

// learn takes a message.
func (s *Store) learn(msg *nats.Msg) {
	var m message
	if json.Unmarshal(msg.Data, &m) == nil {
		s.take(m)
	}
}

func (s *Store) take(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := func(age int64) time.Time { return time.Now().Add(-time.Duration(age) * time.Millisecond) }
	for agent, age := range m.Agents {
		if at := since(age); at.After(s.agents[agent]) {
			s.agents[agent] = at
		}
	}
	for _, one := range m.Members {
		if at := since(one.Milliseconds); one.Name != "" && at.After(s.members[one.Name].at) {
			s.members[one.Name] = heard{one.Member, at}
		}
	}
}

// answer tells one that has begun to listen everything that is known.
func (s *Store) answer(*nats.Msg) {
	news := s.known(frontend.Forgotten)
	m := message{Agents: map[string]int64{}}
	for agent, age := range news.Agents {
		m.Agents[agent] = age.Milliseconds()
	}
	for _, one := range news.Members {
		m.Members = append(m.Members, told{one, one.Age.Milliseconds()})
	}
	if len(m.Agents)+len(m.Members) > 0 {
		_ = s.tell(m) // the connection was lost, and what is news is told each second
	}
}
