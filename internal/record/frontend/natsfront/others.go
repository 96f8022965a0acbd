package natsfront

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/frontend"
)

// notice is what front ends tell each other of themselves. One of its fields is set.
type notice struct {
	Front  *frontend.Seen `json:"front,omitempty"`
	Drain  string         `json:"drain,omitempty"`  // name of a front end that is to take no new work
	Serve  string         `json:"serve,omitempty"`  // or to take it again
	Forget string         `json:"forget,omitempty"` // or that is gone for good
}

// met is a front end that was heard of.
type met struct {
	frontend.Member
	at time.Time
}

// Others implements [frontend.Store].
func (s *Store) Others() frontend.Others { return others{s} }

// others is how front ends hear of each other: in messages.
type others struct{ *Store }

// Meet implements [frontend.Others].
func (s others) Meet(_ context.Context, me frontend.Member) (all []frontend.Seen, drain bool, err error) {
	err = s.notify(notice{Front: &frontend.Seen{Member: me}})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.me = me.Name
	s.fronts[me.Name] = met{me, time.Now()}
	return s.seen(), s.drain[me.Name], err
}

// seen lists the front ends that were heard of.
func (s *Store) seen() (all []frontend.Seen) {
	for name, f := range s.fronts {
		ago := time.Since(f.at)
		if ago > frontend.Forgotten {
			delete(s.fronts, name)
			continue
		}
		all = append(all, frontend.Seen{Member: f.Member, Ago: ago})
	}
	return all
}

// Drain implements [frontend.Others].
func (s others) Drain(_ context.Context, name string, on bool) error {
	n := notice{Serve: name}
	if on {
		n = notice{Drain: name}
	}
	return s.notify(n)
}

// Forget implements [frontend.Others].
func (s others) Forget(_ context.Context, name string) error {
	return s.notify(notice{Forget: name})
}

// notify tells all front ends; this one does not hear itself.
func (s *Store) notify(n notice) error {
	s.note(n)
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return wrap(s.conn.Publish(s.topic+".front", text))
}

// hear takes a message.
func (s *Store) hear(m *nats.Msg) {
	var n notice
	if json.Unmarshal(m.Data, &n) == nil {
		s.note(n)
	}
}

func (s *Store) note(n notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := n.Front; f != nil && f.Name != s.me {
		if at := time.Now().Add(-f.Ago); at.After(s.fronts[f.Name].at) {
			s.fronts[f.Name] = met{f.Member, at}
		}
	}
	if n.Drain != "" {
		s.drain[n.Drain] = true
	}
	delete(s.drain, n.Serve)
	delete(s.drain, n.Forget)
	delete(s.fronts, n.Forget)
}

// introduce tells one that has begun to listen of all front ends.
func (s *Store) introduce() {
	s.mu.Lock()
	all := s.seen()
	s.mu.Unlock()
	for _, f := range all {
		_ = s.notify(notice{Front: &f}) // the connection was lost: those that are there are told each second
	}
}
