package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/wire"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/outbound"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Options of a session. Agent, Token, In and Out have no default.
type Options struct {
	Agent   string
	Spec    client.AgentSpec // to register the agent with, if it is not registered
	Version string           // reported to the client
	Token   string           // the agent's token; opaque values that the client carries are bound to it
	Tools   toolset.Set      // the tools that the client sees
	Tracer  tracing.Tracer   // makes the spans of calls of tools; nil: there are none
	In      io.Reader
	Out     io.Writer
	// Stderr gets messages for people; nil discards them.
	Stderr io.Writer
}

const (
	// settling is how long open calls may take to be answered after the end of the input, and after that those that wait.
	settling = 300 * time.Millisecond
	// parting is how long the session may take to stop after that.
	parting = 300 * time.Millisecond
)

// ErrNotAgent is the error of a session whose token is not its agent's.
var ErrNotAgent = errors.New("a session needs the token of its agent")

// connections is how many idle connections to the server a session keeps.
const connections = 64

const (
	// retries is how often a call is repeated that the server cannot serve now.
	retries = 6
	// Patience is how long a call is repeated that the server does not answer: enough for a restart, and over well before an MCP client times out.
	Patience = 25 * time.Second
)

// NewClient returns the client of a session: its calls of the HTTP API say which tool makes them, and are repeated while the server restarts.
// If o names no HTTP client, it has one of its own.
func NewClient(url, token string, o client.Options) (*client.Client, error) {
	o.Retries, o.Patience = retries, Patience
	if o.HTTP == nil {
		o.HTTP = wire.HTTP(connections, o.TLS)
	}
	o.HTTP.Transport = outbound.Transport(o.HTTP.Transport)
	return client.New(url, token, o)
}

// Run serves one MCP client until the input or ctx ends, which is not an error. It returns [ErrNotAgent] if the token is not the agent's, and
// an error if the server cannot be reached.
func Run(ctx context.Context, c *client.Client, o Options) error {
	if o.Stderr == nil {
		o.Stderr = io.Discard
	}
	say := teller(o.Stderr)
	me, err := enter(ctx, c, o, say)
	if err != nil {
		return err
	}
	alive, stop := context.WithCancel(ctx)
	defer stop()
	k := newKeeper(alive, c, o.Agent, say)
	l := newLines(o.In, o.Out, say)
	tracer := o.Tracer
	if tracer != nil {
		tracer = tracing.As(tracer, me.Workspace, o.Agent)
	}
	session, err := mcpapi.Connect(context.WithoutCancel(ctx), l, c,
		mcpapi.Options{Version: o.Version, Person: me.Person, Tools: o.Tools, Secret: func(context.Context) string { return o.Token }, Remote: true, Stopping: func() context.Context { return l.leaving }, OnStatus: k.note, Tracer: tracer})
	if err != nil {
		return err
	}
	k.begin()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = session.Wait() // reason of the end
	}()
	select {
	case <-l.over:
	case <-ctx.Done():
		l.leave()
		select {
		case <-l.over:
		case <-time.After(settling): // it cannot write
			_ = l.Close() // never fails
		}
	}
	stop()
	k.end()
	late := time.NewTimer(parting) // a client that does not read would block it
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
	return nil
}

// enter checks that the token is the agent's, and registers the agent if it is new.
func enter(ctx context.Context, c *client.Client, o Options, say func(string, ...any)) (client.Me, error) {
	me, err := c.Me(ctx)
	switch {
	case err != nil:
		return me, err
	case !me.Is(o.Agent):
		return me, fmt.Errorf("%w: the token is that of %s/%s, not of the agent %s", ErrNotAgent, me.Role, me.Name, o.Agent)
	}
	if _, err = c.Agent(ctx, o.Agent); errors.Is(err, client.NotFound) {
		if _, err = c.RegisterAgent(ctx, o.Agent, o.Spec); err == nil {
			say("%s", shell.NewAgentMessage(ctx, c, "trapeze mcp", o.Agent))
		}
	}
	return me, err
}

// teller returns a function that writes messages for people.
func teller(w io.Writer) func(format string, args ...any) {
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(w, "trapeze mcp: "+shell.OneLine(fmt.Sprintf(format, args...)))
	}
}
