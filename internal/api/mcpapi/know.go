package mcpapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

type rememberInput struct {
	Text       string        `json:"text,omitempty" jsonschema:"what to keep"`
	Title      string        `json:"title,omitempty"`
	Scope      string        `json:"scope,omitempty" enum:"private,task,workspace" jsonschema:"who may read it; default private"`
	Task       string        `json:"task,omitempty" jsonschema:"it belongs to"`
	Tags       argument.List `json:"tags,omitempty"`
	Importance float64       `json:"importance,omitempty" jsonschema:"0 to 1"`
	Pinned     bool          `json:"pinned,omitempty" jsonschema:"into every envelope first"`
	Revise     string        `json:"revise,omitempty" jsonschema:"id of an item: text becomes its new version"`
	Forget     string        `json:"forget,omitempty" jsonschema:"id of an item to give up"`
	Key        string        `json:"key,omitempty"`
}

// placed reports whether something was given that only a new item takes.
func (in rememberInput) placed() bool {
	return in.Scope != "" || in.Task != "" || len(in.Tags) > 0 || in.Importance != 0 || in.Pinned
}

type memory struct {
	ID      string        `json:"id"`
	Version int           `json:"version,omitempty"`
	Status  string        `json:"status,omitempty"`
	Title   string        `json:"title,omitempty"`
	Text    string        `json:"text,omitempty"`
	Author  string        `json:"author,omitempty"`
	Task    string        `json:"task,omitempty"`
	Scope   string        `json:"scope,omitempty"`
	Tags    argument.List `json:"tags,omitempty"`
}

func memoryOf(m client.MemoryItem) memory {
	return memory{m.ID, m.Version, string(m.Status), m.Title, firstOf(m.Text, m.Excerpt), m.Author, m.Task, string(m.Scope), m.Tags}
}

var rememberTool = define[rememberInput, memory]("remember", "Remember something", destroys,
	"Keep something for later, for you, a task or everybody; revise or forget an item.",
	func(ctx context.Context, c *call, in rememberInput) (answer, error) {
		ctx = keyed(ctx, in.Key)
		var m client.MemoryItem
		var err error
		switch {
		case in.Revise != "" && in.Forget != "":
			return answer{}, invalid("give either revise or forget, not both")
		case in.Forget != "" && (in.Text != "" || in.placed()):
			return answer{}, invalid("forget gives an item up: leave the rest out, or use revise to change its text")
		case in.Revise != "" && in.placed():
			return answer{}, invalid("revise changes text and title only: leave the rest out")
		case in.Forget != "":
			if m, err = c.Forget(ctx, in.Forget); err == nil {
				return answer{text: m.ID + " is forgotten.", data: memoryOf(m)}, nil
			}
		case in.Text == "":
			return answer{}, invalid("remember needs text: what to keep")
		case in.Revise != "":
			m, err = c.Revise(ctx, in.Revise, client.ReviseInput{Text: in.Text, Title: in.Title})
		default:
			m, err = c.Remember(ctx, client.RememberInput{
				Text: in.Text, Title: in.Title, Scope: client.Scope(in.Scope), Task: in.Task, Tags: in.Tags, Importance: in.Importance, Pinned: in.Pinned,
			})
		}
		if err != nil {
			return answer{}, err
		}
		return answer{text: fmt.Sprintf("Kept as %s, version %d.", m.ID, m.Version), data: memoryOf(m)}, nil
	})

type recallInput struct {
	Query string `json:"query,omitempty" jsonschema:"words; without it the newest come first"`
	ID    string `json:"id,omitempty" jsonschema:"or one item, whole"`
	Tag   string `json:"tag,omitempty"`
	Agent string `json:"agent,omitempty" jsonschema:"its author"`
	Task  string `json:"task,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

type recalled struct {
	Items []memory `json:"items"`
}

var recallTool = define[recallInput, recalled]("recall", "Recall what was remembered", looks,
	"Search what you may read of what agents remembered, best first, in excerpts; or read one item whole.",
	func(ctx context.Context, c *call, in recallInput) (answer, error) {
		if in.ID != "" && (in.Query != "" || in.Tag != "" || in.Agent != "" || in.Limit != 0) {
			return answer{}, invalid("recall reads one item by its id, or searches: give one of the two; only task goes with both")
		}
		if in.ID != "" {
			m, err := c.Memory(ctx, in.ID, client.MemoryReference{Task: in.Task})
			if err != nil {
				return answer{}, err
			}
			return answer{text: memoryText(m), data: recalled{[]memory{memoryOf(m)}}}, nil
		}
		if in.Limit == 0 {
			in.Limit = 10
		}
		page, err := c.SearchMemory(ctx, client.MemoryFilter{Query: in.Query, Tag: in.Tag, Agent: in.Agent, Task: in.Task, Limit: in.Limit})
		if err != nil {
			return answer{}, err
		}
		out := recalled{Items: []memory{}}
		var b strings.Builder
		for _, m := range page.Items {
			out.Items = append(out.Items, memoryOf(m))
			b.WriteString(memoryText(m) + "\n")
		}
		if len(page.Items) == 0 {
			b.WriteString("Nothing found. Try fewer or other words.")
		}
		return answer{text: b.String(), data: out}, nil
	})

func memoryText(m client.MemoryItem) string {
	s := fmt.Sprintf("%s (by %s, %s) %s", m.ID, m.Author, m.Updated.Format(time.DateOnly), oneLine(m.Title))
	if m.Status != client.MemoryCurrent {
		s += " [" + string(m.Status) + "]"
	}
	return strings.TrimSpace(s) + "\n" + quoted(firstOf(m.Text, m.Excerpt))
}

// quoted marks text of others as data: each line is set off, so that nothing in it can pass for what the server says.
func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "| " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n| ")
}

type conversationInput struct {
	ID    string `json:"id" jsonschema:"any name for the conversation"`
	Say   string `json:"say,omitempty" jsonschema:"a turn to add; without it the conversation is read"`
	Role  string `json:"role,omitempty" enum:"user,assistant,system,tool" jsonschema:"whose turn; default assistant"`
	Task  string `json:"task,omitempty"`
	Limit int    `json:"limit,omitempty" jsonschema:"turns to read, default 20"`
	Key   string `json:"key,omitempty"`
}

type conversed struct {
	ID    string `json:"id"`
	Turn  int    `json:"turn,omitempty"`
	Turns []turn `json:"turns,omitempty"`
	Count int    `json:"count,omitempty"`
}

type turn struct {
	N     int    `json:"n"`
	Agent string `json:"agent"`
	Role  string `json:"role"`
	Text  string `json:"text"`
}

var conversationTool = define[conversationInput, conversed]("conversation", "Log or read a conversation", changes,
	"Add a turn to a conversation that goes on across agents, or read its last turns.",
	func(ctx context.Context, c *call, in conversationInput) (answer, error) {
		if in.Say != "" {
			ctx = keyed(ctx, in.Key)
			s, err := c.AppendTurn(ctx, in.ID, client.TurnInput{Role: client.SpeakerRole(firstOf(in.Role, string(client.SpeakerAssistant))), Text: in.Say, Task: in.Task})
			if err != nil {
				return answer{}, err
			}
			return answer{text: fmt.Sprintf("Turn %d was added.", s.Turn), data: conversed{ID: in.ID, Turn: s.Turn}}, nil
		}
		if in.Limit == 0 {
			in.Limit = 20
		}
		v, err := c.Conversation(ctx, in.ID, client.ConversationOptions{Limit: in.Limit})
		if err != nil {
			return answer{}, err
		}
		out := conversed{ID: v.ID, Count: v.Count}
		var b strings.Builder
		for _, t := range v.Turns {
			out.Turns = append(out.Turns, turn{t.N, t.Agent, string(t.Role), t.Text})
			fmt.Fprintf(&b, "%d %s (%s):\n%s\n", t.N, t.Agent, t.Role, quoted(t.Text))
		}
		return answer{text: b.String(), data: out}, nil
	})
