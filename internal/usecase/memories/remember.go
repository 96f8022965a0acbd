package memories

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// RememberInput stores a memory item.
type RememberInput struct {
	Text         string        `json:"text" doc:"What is to be known later." minLength:"1"`
	Title        string        `json:"title,omitempty" doc:"In a few words; one line."`
	Scope        memory.Scope  `json:"scope,omitempty" doc:"Who may read it: you alone (private, if left out), the agents and people with a part in its task, or everybody in the workspace."`
	Task         string        `json:"task,omitempty" doc:"That it belongs to, one that you take part in; scope task needs it."`
	Conversation string        `json:"conversation,omitempty" doc:"In which it was said: a name, which is the conversation of its task, if that has the name, or your own; or an id."`
	Tags         []string      `json:"tags,omitempty"`
	Subject      string        `json:"subject,omitempty" maxLength:"128" doc:"Whom or what it is about, such as patient/4711: all that has the subject can be erased by it. It stays readable." example:"patient/4711"`
	Importance   float64       `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"From 0 (trivial) to 1 (vital)."`
	Pinned       bool          `json:"pinned,omitempty" doc:"It goes into every envelope that may hold it, before others. If an agent stores it for the whole workspace: once an operator pins it, too."`
	Source       memory.Source `json:"source,omitzero" doc:"Where it comes from, if not from you."`
}

// Remember stores a memory item. The caller is its author.
func (ms *Memories) Remember(ctx context.Context, c caller.Caller, in RememberInput) (Item, error) {
	x, err := ms.remember(ctx, c, in)
	if err != nil {
		return Item{}, ms.access.Refused(ctx, c.Workspace, c.Actor(), "remember", in.Task, err)
	}
	return x, nil
}

func (ms *Memories) remember(ctx context.Context, c caller.Caller, in RememberInput) (Item, error) {
	if err := c.May(identity.ActOwn, "store a memory item"); err != nil {
		return Item{}, err
	}
	request, err := c.Digest("remember", in)
	if err != nil {
		return Item{}, err
	}
	if in.Pinned {
		var end func()
		ctx, end = ms.pinning(ctx, c)
		defer end()
	}
	n, err := c.NewID("memory")
	if err != nil {
		return Item{}, err
	}
	id := event.MemoryID(n)
	salt, err := ms.salt()
	if err != nil {
		return Item{}, err
	}
	by := memory.Reader{Principal: c.Principal}
	if err := taskstore.Join(ctx, ms.store.tasks, c.Workspace, &by, in.Task); err != nil {
		return Item{}, err
	}
	if in.Conversation, err = ms.store.talks.Bind(ctx, c.Workspace, by, in.Conversation, in.Task); err != nil {
		return Item{}, err
	}
	if in.Scope == "" {
		in.Scope = memory.Private
	}
	cmd := memory.Remember{
		By: by, ID: id, Scope: in.Scope, Source: in.Source, Task: in.Task, Conversation: in.Conversation, Tags: in.Tags, Subject: in.Subject,
		Importance: in.Importance, Pinned: in.Pinned, Content: memory.Content{Title: in.Title, Text: in.Text, Salt: salt},
	}
	w, at := c.Write(request), StreamOf(c.Workspace, id)
	w.New = true
	out, err := ms.store.Do(ctx, w, at, func(s memory.State, now time.Time) ([]memory.Event, error) {
		events, err := memory.Decide(s, cmd, now)
		if err == nil {
			err = ms.boundPins(ctx, c, events)
		}
		return events, err
	})
	if err != nil {
		return Item{}, err
	}
	return ms.answer(ctx, at, out)
}
