package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// prompt is a trigger phrase that a client shows as a command.
type prompt struct {
	name, title, about string
	tool               string // that it tells to call
	arguments          []argument
	write              func(context.Context, *writer) error
}

type argument struct {
	name, about string
	required    bool
	sorts       []sort
}

var (
	whichTask = argument{"task", "id of the task; if omitted, the one that you own", false, []sort{aTask}}
	whyText   = argument{"reason", "the reason in words", false, nil}
)

// prompts are the trigger phrases, worded as in the phrase grammar.
var prompts = []prompt{
	{
		"handoff", "Hand off", "Hand this off to an agent", "send",
		[]argument{{"to", "the agent; if omitted, the policy decides", false, []sort{anAgent}}, whyText, whichTask},
		writeHandoff,
	},
	{
		"escalation", "Escalate", "Escalate this", "escalate",
		[]argument{{"to", "an agent; if omitted, the next level of the escalation chain", false, []sort{anAgent}}, whyText, whichTask},
		writeEscalate,
	},
	{
		"takeover", "Take over", "Take over from an agent", "accept",
		[]argument{{"from", "the agent that owns it", false, []sort{anAgent}}, {"task", "id of the task", false, []sort{aTask}}, whyText},
		writeTakeover,
	},
	{"history", "Handoff history", "What is the handoff history", "status", []argument{whichTask}, writeHistory},
	{
		"share", "Transfer context", "Transfer context to an agent; you keep the task", "send",
		[]argument{{"to", "the agent", true, []sort{anAgent}}, whyText, whichTask},
		writeShare,
	},
	{
		"specialist", "Needs a specialist", "This needs a specialist", "send",
		[]argument{{"capability", "the capability that is needed; if omitted, the policy decides", false, []sort{aCapability}}, whyText, whichTask},
		writeSpecialist,
	},
	{
		"stuck", "Is stuck", "An agent is stuck", "escalate",
		[]argument{{"who", "the agent or the task that makes no progress", true, []sort{anAgent, aTask}}, whyText},
		writeStuck,
	},
	{"active", "Active handoffs", "Show active handoffs", "status", nil, writeActive},
}

// offered reports whether clients of a set are offered a prompt: not if it tells to call a tool that the set does not have.
func offered(name string, set toolset.Set) bool {
	for _, p := range prompts {
		if p.name == name {
			return set.Has(p.tool)
		}
	}
	return true // not one of ours
}

func (p prompt) spec() *mcp.Prompt {
	s := &mcp.Prompt{Name: p.name, Title: p.title, Description: p.about}
	for _, a := range p.arguments {
		s.Arguments = append(s.Arguments, &mcp.PromptArgument{Name: a.name, Description: a.about, Required: a.required})
	}
	return s
}

// mostArgument is the maximum length of an argument, in bytes.
const mostArgument = 16 << 10

// writer writes a prompt: the tool to call, with its known arguments. Arguments are written as JSON only, so that none of their text
// looks like an instruction.
type writer struct {
	client *client.Client
	set    toolset.Set
	given  map[string]string
	text   strings.Builder
}

// writer returns the handler of a prompt.
func (s *Server) writer(p *prompt) mcp.PromptHandler {
	return func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		set, _ := toolset.From(ctx) // the default if none was chosen
		if !set.Has(p.tool) {
			return nil, invalid("there is no prompt %s: it needs a tool that you do not have", set.Prefixed(p.name))
		}
		w := &writer{client: s.client, set: set, given: map[string]string{}}
		for name, value := range req.Params.Arguments {
			if len(value) > mostArgument {
				return nil, invalid("%.40q has more than %d bytes", name, mostArgument)
			}
			if value = strings.TrimSpace(value); value != "" {
				w.given[name] = value
			}
		}
		for _, a := range p.arguments {
			if a.required && w.given[a.name] == "" {
				return nil, invalid("the prompt %s needs %s: %s", set.Prefixed(p.name), a.name, a.about)
			}
		}
		for name := range req.Params.Arguments {
			if !p.takes(name) {
				return nil, invalid("the prompt %s has no argument %.40q", set.Prefixed(p.name), name)
			}
		}
		if err := p.write(ctx, w); err != nil {
			return nil, refused(ctx, "", err)
		}
		return &mcp.GetPromptResult{Description: p.about, Messages: []*mcp.PromptMessage{
			{Role: "user", Content: &mcp.TextContent{Text: strings.TrimSpace(w.text.String())}},
		}}, nil
	}
}

func (p prompt) takes(name string) bool {
	for _, a := range p.arguments {
		if a.name == name {
			return true
		}
	}
	return false
}

// field is one argument of a tool.
type field struct {
	name  string
	value any
}

// call writes the instruction to call a tool. Empty fields are omitted.
func (w *writer) call(tool string, fields ...field) {
	var b bytes.Buffer
	for _, f := range fields {
		if f.value == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(f.name) + ": " + quote(f.value))
	}
	fmt.Fprintf(&w.text, "Call the Trapeze tool %s with {%s}.\n", w.set.Name(tool), b.String())
}

// quote returns a value as JSON, on one line.
func quote(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return `""` // strings and lists of strings can always be encoded
	}
	return visible.JSON(strings.TrimSpace(b.String()))
}

// say writes a line, in which {status} is the name of that tool.
func (w *writer) say(format string, args ...any) {
	w.text.WriteString(w.set.Text(format, args...) + "\n")
}

const (
	mostTasks  = 10
	mostAgents = 20
)

// task returns the task that the prompt is about: the one given, or the only one that matches f. If several match, they are listed for
// the model to choose from.
func (w *writer) task(ctx context.Context, f client.TaskFilter) (string, error) {
	if w.given["task"] != "" {
		return w.given["task"], nil
	}
	f.Live, f.Limit = true, mostTasks
	page, err := w.client.Tasks(ctx, f)
	if err != nil || len(page.Tasks) == 1 {
		if err == nil {
			return page.Tasks[0].ID, nil
		}
		return "", err
	}
	who := "You own"
	switch f.Owner {
	case "":
		who = "There is"
	case w.given["from"]:
		who = quote(f.Owner) + " owns"
	}
	if len(page.Tasks) == 0 {
		w.say("%s no open task: find out which one the user means, or ask the user.", who)
		return "TASK", nil
	}
	w.say("%s several tasks; TASK is the one that the user means (if that is not clear, ask the user):", who)
	for _, t := range page.Tasks[:min(len(page.Tasks), mostTasks)] {
		w.say("- %s: %s", t.ID, quote(clip(t.Intent)))
	}
	return "TASK", nil
}

// mostIntent is the maximum length of an intent in a list, in bytes.
const mostIntent = 80

// clip is the beginning of a text.
func clip(text string) string {
	if len(text) <= mostIntent {
		return text
	}
	return strings.ToValidUTF8(text[:mostIntent], "") + "…"
}

// own returns the task that the prompt is about, of the tasks that the caller owns.
func (w *writer) own(ctx context.Context) (string, error) {
	if w.given["task"] != "" {
		return w.given["task"], nil
	}
	me, err := w.client.Me(ctx)
	if err != nil {
		return "", err
	}
	return w.task(ctx, client.TaskFilter{Owner: me.Agent})
}

// agents lists the other agents that are ready.
func (w *writer) agents(ctx context.Context) error {
	me, err := w.client.Me(ctx)
	if err != nil {
		return err
	}
	known, err := w.client.Agents(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, a := range known.Agents {
		if a.Readiness == client.Ready && a.Name != me.Agent && len(names) < mostAgents {
			names = append(names, a.Name)
		}
	}
	if len(names) > 0 {
		w.say("These agents are ready: %s.", strings.Join(names, ", "))
	}
	return nil
}
