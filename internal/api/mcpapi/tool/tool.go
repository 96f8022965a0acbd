package tool

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/epoch"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// Tool is a tool: its description for clients and its implementation.
type Tool struct {
	spec func(full bool) *mcp.Tool // built on first use: most commands of the program never need it
	Run  func(context.Context, *Call) (Answer, error)
}

// Spec describes the tool, by its own name and with templates for [toolset.Set.Text], to the clients of a set.
func (t Tool) Spec(set toolset.Set) *mcp.Tool { return t.spec(set.Full()) }

// Bare is the tool for the SDK, which would decode the schemas again for each server: clients are shown those of Spec.
func (t Tool) Bare() *mcp.Tool { return &mcp.Tool{Name: t.Name(), InputSchema: argument.Object} }

// Name is the own name of the tool.
func (t Tool) Name() string { return t.spec(false).Name }

// Call is one call of a tool.
type Call struct {
	*client.Client
	Req     *mcp.CallToolRequest
	Set     toolset.Set    // the tools that the client sees
	Session *epoch.Session // what the session was given
	Secret  string         // of the principal
	Person  string         // the user of the client; empty if there is none
	Beat    time.Duration  // the interval of progress notifications of a call that waits
	Waits   liveness.Waits // how the call waits
}

// Alive sends progress notifications for a waiting call until stop is called, so that the client does not time out. A client that
// sent no progress token gets none.
func (c *Call) Alive(ctx context.Context, what string) (stop func()) {
	token := c.Req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(c.Beat)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = c.Req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: what}) // the client is gone
			}
		}
	}()
	return func() { cancel(); <-done }
}

// Say writes a text that names tools, see [toolset.Set.Text].
func (c *Call) Say(format string, args ...any) string { return c.Set.Text(format, args...) }

// Invalid is a refusal of arguments with a text that names tools.
func (c *Call) Invalid(format string, args ...any) error {
	return argument.Invalid("%s", c.Set.Text(format, args...))
}

// Answer is the result of a tool: text for a model, and the same content as data for programs. The answer of a tool that is
// there to be read has no data: some clients show a model the data alone, as JSON, and others both.
type Answer struct {
	Text   string
	Data   any
	Meta   mcp.Meta             // for programs; no client shows it to a model
	More   []mcp.Content        // links to large content, for clients that ask for links
	Need   *Need                // if set, the call returns this instead: a question to the user of the client
	Status *liveness.TaskStatus // of the task that the call is about
	Fits   bool                 // the text fits the window of its reader already: it is a context that the server packed for it
}

// Need is the input that a call needs from the user of the client before it can continue.
type Need struct {
	Requests mcp.InputRequestMap
	State    string
}

// Nature determines the annotations of a tool, which a client may show its user. A tool has the nature of its strongest effect.
type Nature int

// The natures.
const (
	Looks    Nature = iota // reads only
	Changes                // adds to the record; idempotent under a key
	Repeats                // idempotent
	Destroys               // can end something for good: a task, a handoff (by denying it), a memory item
)

func (n Nature) hints(title string) *mcp.ToolAnnotations {
	destructive, open := n == Destroys, false
	return &mcp.ToolAnnotations{
		Title: title, ReadOnlyHint: n == Looks, IdempotentHint: n == Looks || n == Repeats, DestructiveHint: &destructive, OpenWorldHint: &open,
	}
}

// Define returns the tool that run implements. Its name is a verb of the command line; In and Out define its schemas. Fields of In with the
// tag `set:"all"` are arguments for the clients of that set alone.
func Define[In, Out any](name, title string, n Nature, description string, run func(context.Context, *Call, In) (Answer, error)) Tool {
	t := DefineText(name, title, n, description, run)
	spec := t.spec
	t.spec = perSet(func(full bool) *mcp.Tool {
		x := *spec(full)
		x.OutputSchema = argument.OutputSchema[Out]()
		return &x
	})
	return t
}

// DefineText returns a tool as [Define] does, whose answer is to be read. It declares no output schema, so that it may answer
// with text alone.
func DefineText[In any](name, title string, n Nature, description string, run func(context.Context, *Call, In) (Answer, error)) Tool {
	return Tool{
		spec: perSet(func(full bool) *mcp.Tool {
			return &mcp.Tool{Name: name, Description: description, Annotations: n.hints(title), InputSchema: argument.Schema[In](full)}
		}),
		Run: func(ctx context.Context, c *Call) (Answer, error) {
			in, err := argument.Decode[In](c.Set.Name(name), c.Req.Params.Arguments, c.Set.Full(), argument.Server{
				Now: func() (time.Time, error) {
					me, err := c.Me(ctx)
					return me.Now, err
				},
				Handoff: func(id string) error {
					_, err := c.Handoff(ctx, id)
					return err
				},
			})
			if err != nil {
				return Answer{}, err
			}
			return run(ctx, c, in)
		},
	}
}

// perSet builds the description for the set all, and that for the others, once each.
func perSet(build func(full bool) *mcp.Tool) func(bool) *mcp.Tool {
	full, usual := sync.OnceValue(func() *mcp.Tool { return build(true) }), sync.OnceValue(func() *mcp.Tool { return build(false) })
	return func(all bool) *mcp.Tool {
		if all {
			return full()
		}
		return usual()
	}
}

// Keyed sets the idempotency key of the API calls made with ctx.
func Keyed(ctx context.Context, key string) context.Context {
	if key == "" {
		return ctx
	}
	return client.WithKey(ctx, key)
}
