package channel

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MaxSubscribers is the most that a channel has: as many children as a task may have.
const MaxSubscribers = 256

// Command asks for a change of one channel. The set is sealed.
type Command interface {
	channel() (string, identity.Principal)
}

// Create begins a channel.
type Create struct {
	By          identity.Principal
	Name        string
	Description string
}

// Describe replaces the description.
type Describe struct {
	By          identity.Principal
	Name        string
	Description string
}

// Subscribe adds an agent. The use case checks that the agent exists.
type Subscribe struct {
	By    identity.Principal
	Name  string
	Agent string // empty for the caller
}

// Unsubscribe removes an agent.
type Unsubscribe struct {
	By    identity.Principal
	Name  string
	Agent string // empty for the caller
}

// Remove ends the channel.
type Remove struct {
	By   identity.Principal
	Name string
}

func (c Create) channel() (string, identity.Principal)      { return c.Name, c.By }
func (c Describe) channel() (string, identity.Principal)    { return c.Name, c.By }
func (c Subscribe) channel() (string, identity.Principal)   { return c.Name, c.By }
func (c Unsubscribe) channel() (string, identity.Principal) { return c.Name, c.By }
func (c Remove) channel() (string, identity.Principal)      { return c.Name, c.By }

// CheckName refuses (invalid) what cannot name a channel: the rule is that of agents.
func CheckName(name string) error { return event.CheckName("channel", name) }

// Decide returns the events of a command on a channel at the time now. Refusals: invalid and too_large for what breaks a
// rule on its own, not_found for a channel that is not there, not_permitted for what only its owner, the agent itself
// or an operator may do, conflict for a name that is taken, limit for a channel that is full.
func Decide(s State, c Command, now time.Time) ([]Event, error) {
	name, by := c.channel()
	if by.IsZero() {
		return nil, refusal.New(refusal.Unauthenticated, "send a token", "no credential")
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if s.Name != "" && name != s.Name {
		return nil, refusal.New(refusal.Invalid, "load the channel that the command names", "a command for channel %s reached channel %s", name, s.Name)
	}
	if c, ok := c.(Create); ok {
		return decideCreate(s, c, now)
	}
	if !s.Exists() {
		return nil, refusal.New(refusal.NotFound, "[list the channels](channel list) to see which there are", "there is no channel %s", name)
	}
	switch c := c.(type) {
	case Describe:
		return decideDescribe(s, c)
	case Subscribe:
		return decideSubscribe(s, c)
	case Unsubscribe:
		agent, err := subscriber(c.By, c.Agent, "unsubscribe")
		if err != nil || !s.Has(agent) {
			return nil, err
		}
		return []Event{Unsubscribed{Agent: agent}}, nil
	case Remove:
		if err := s.requireOwner(c.By, "remove"); err != nil {
			return nil, err
		}
		return []Event{Removed{}}, nil
	}
	return nil, refusal.New(refusal.Invalid, "", "unknown command %T", c)
}

func decideCreate(s State, c Create, now time.Time) ([]Event, error) {
	if err := checkDescription(c.Description); err != nil {
		return nil, err
	}
	switch {
	case !s.Exists():
		return []Event{Created{Name: c.Name, Description: c.Description, Owner: c.By.String(), At: now.UTC()}}, nil
	case s.Owner == c.By.String() && s.Description == c.Description:
		return nil, nil
	}
	return nil, refusal.New(refusal.Conflict, "[subscribe to it](channel subscribe), or choose another name", "channel %s exists already", s.Name)
}

func decideDescribe(s State, c Describe) ([]Event, error) {
	if err := s.requireOwner(c.By, "describe"); err != nil {
		return nil, err
	}
	if err := checkDescription(c.Description); err != nil || c.Description == s.Description {
		return nil, err
	}
	return []Event{Described{Description: c.Description}}, nil
}

func decideSubscribe(s State, c Subscribe) ([]Event, error) {
	agent, err := subscriber(c.By, c.Agent, "subscribe")
	if err != nil || s.Has(agent) {
		return nil, err
	}
	if len(s.Subscribers) >= MaxSubscribers {
		return nil, refusal.New(refusal.Limit, "[create another channel](channel create)", "channel %s has %d subscribers already", s.Name, len(s.Subscribers))
	}
	return []Event{Subscribed{Agent: agent}}, nil
}

// subscriber is the agent that a subscription is about.
func subscriber(by identity.Principal, agent, verb string) (string, error) {
	if agent == "" {
		agent = by.Agent()
	}
	if agent == "" {
		return "", refusal.New(refusal.Invalid, "[name the agent](act as)", "only agents subscribe, and none is named")
	}
	if err := event.CheckAgent("agent", agent); err != nil {
		return "", err
	}
	if agent != by.Agent() && !by.IsOperator() {
		return "", refusal.New(refusal.NotPermitted, "leave the agent out to name yourself, or ask an operator", "%s may not %s agent %s", by.Short(), verb, agent)
	}
	return agent, nil
}

// requireOwner refuses what only the channel's owner and operators may do.
func (s State) requireOwner(by identity.Principal, verb string) error {
	if by.IsOperator() || by.String() == s.Owner {
		return nil
	}
	return refusal.New(refusal.NotPermitted, "ask "+help.OrOperator(event.Bare(s.Owner)), "%s may not %s channel %s", by.Short(), verb, s.Name)
}

func checkDescription(s string) error {
	return refusal.In("description", event.CheckDescription("the description", s, "say in a few sentences of plain text what the channel is for"))
}
