package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Options of a session. Agent, Token, In and Out have no default.
type Options struct {
	Agent   string
	Spec    client.AgentSpec // of the agent, if it is not registered
	Version string           // as the client is told
	Token   string           // that the session speaks with: what it lets a client carry is bound to it
	In      io.Reader
	Out     io.Writer
	// Stderr gets what is to be said to people; nil means nobody.
	Stderr io.Writer
}

const (
	// settling is how long calls under way have to be answered when the input has ended.
	settling = 400 * time.Millisecond
	// parting is how long the session's own work has to stop after that.
	parting = 400 * time.Millisecond
)

// ErrNotAgent is why a session does not begin whose client does not speak as its agent.
var ErrNotAgent = errors.New("a session speaks as its agent")

// Run serves one MCP client until its input ends, or ctx does, which is no error. A server that cannot be reached, or
// whose token is not the agent's, is one: [ErrNotAgent].
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
	session, err := mcpapi.Connect(context.WithoutCancel(ctx), l, c,
		mcpapi.Options{Version: o.Version, Person: me.Person, Secret: func(context.Context) string { return o.Token }, Remote: true, OnStatus: k.note})
	if err != nil {
		return err
	}
	k.begin()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = session.Wait() // how the input ended
	}()
	select {
	case <-l.over:
	case <-ctx.Done():
		_ = l.Close() // never fails
	}
	stop()
	k.end()
	late := time.NewTimer(parting) // a client that does not read would hold it up
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
	}
	return nil
}

// enter checks whose word the session's would be, and registers the agent if it is not.
func enter(ctx context.Context, c *client.Client, o Options, say func(string, ...any)) (client.Me, error) {
	me, err := c.Me(ctx)
	switch {
	case err != nil:
		return me, err
	case me.Agent != o.Agent:
		return me, fmt.Errorf("%w: the token is that of %s/%s, not of the agent %s", ErrNotAgent, me.Role, me.Name, o.Agent)
	}
	if _, err = c.Agent(ctx, o.Agent); errors.Is(err, client.NotFound) {
		if _, err = c.RegisterAgent(ctx, o.Agent, o.Spec); err == nil {
			say("%s", NewAgentMessage(ctx, c, o.Agent))
		}
	}
	return me, err
}

// NewAgentMessage is what people are told of an agent that was registered for a session: its name may be mistyped.
func NewAgentMessage(ctx context.Context, c *client.Client, agent string) string {
	text := "there was no agent " + agent + ": it is registered now"
	list, err := c.Agents(ctx)
	if err != nil {
		return text
	}
	var names []string
	for _, a := range list.Agents {
		names = append(names, a.Name)
	}
	if near := shell.Suggest(agent, names); len(near) > 0 {
		text += ". Did you mean " + strings.Join(near, " or ") + "? Then give the client --agent " + near[0] +
			", and take the new one away: trapeze agent remove " + agent
	}
	return text
}

// teller writes lines for people.
func teller(w io.Writer) func(format string, args ...any) {
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(w, "trapeze mcp: "+shell.OneLine(fmt.Sprintf(format, args...)))
	}
}
