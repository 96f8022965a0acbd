package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/stdio"
)

// mcpRetries are enough for a server that is started again, and end well before an MCP client gives a call up.
const mcpRetries = 6

func (s *commands) mcpCommand() *cobra.Command {
	var spec client.AgentSpec
	var noStart bool
	cmd := s.Command("mcp --agent NAME [flags]", "Be an agent's MCP server, on standard input and output", shell.NoArgs,
		func(ctx context.Context, _ []string) error {
			ctx, stop := interruptible(ctx)
			defer stop()
			agent := s.agentName()
			if agent == "" {
				return shell.Usagef("say which agent the MCP client is: --agent NAME")
			}
			if !noStart {
				if err := s.someServer(ctx); err != nil {
					return err
				}
			}
			token, err := s.agentToken(ctx, agent, spec)
			if err != nil {
				return err
			}
			c, err := client.New(s.URL(), token, client.Options{UserAgent: "trapeze-mcp/" + shell.Version(), Retries: mcpRetries})
			if err != nil {
				return shell.Usage(err)
			}
			defer c.Close()
			err = stdio.Run(ctx, c, stdio.Options{
				Agent: agent, Token: token, Spec: spec, Version: shell.Version(), In: s.Stdin, Out: s.Stdout, Stderr: s.Stderr,
			})
			if errors.Is(err, stdio.ErrNotAgent) {
				err = shell.Hinted(shell.Usage(err), "leave the token out, or give the agent's own: trapeze token create --agent "+agent)
			}
			return err
		})
	cmd.Long = mcpHelp
	f := cmd.Flags()
	f.BoolVar(&noStart, "no-start", false, "do not start a server where none runs")
	f.StringSliceVar(&spec.Capabilities, "capability", nil, "when the agent is new: what it can do (repeatable)")
	f.StringVar(&spec.Description, "description", "", "when the agent is new: what it is good at")
	return cmd
}

// agentToken is the agent's own token. What a session says is never the owner's word: see [stdio.Run].
func (s *commands) agentToken(ctx context.Context, agent string, spec client.AgentSpec) (string, error) {
	if s.Getenv("TRAPEZE_AGENT") != agent {
		s.Flags.Agent = agent
	}
	token, err := s.Credential(ctx)
	if errors.Is(err, client.NotFound) { // only who is registered can have a token
		c, err := s.Enrol(ctx, agent, spec, false)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(s.Stderr, "trapeze mcp: "+shell.OneLine(stdio.Newcomer(ctx, c, agent)))
		return s.Credential(ctx)
	}
	return token, err
}

// someServer starts a server that outlives this process, where none answers.
func (s *commands) someServer(ctx context.Context) error {
	dir, err := s.DataDir()
	if err != nil {
		return shell.Usage(err)
	}
	out, err := daemon.Ensure(ctx, daemon.Config{URL: s.URL(), DataDir: dir})
	if err == nil && out.Started {
		fmt.Fprintf(s.Stderr, "trapeze mcp: a server was started at %s, with its log in %s; trapeze stop ends it\n", out.URL, daemon.LogFile(out.DataDir))
	}
	return err
}

// mcpHelp is for a person who sets up a client by hand.
const mcpHelp = `Be the MCP server of one agent: an MCP client runs this command and speaks with it over its standard input and output.
The client's model then has the tools join, send, inbox, accept, reject, decide, progress, complete, escalate, ask,
status, cancel, remember, recall, conversation and route. Tell it to call join first.

Every client gets an agent of its own. Most clients are set up with a file like this (` + "`trapeze`" + ` must be in the PATH
that the client has, or be given as a whole path):

    {
      "mcpServers": {
        "trapeze": {"command": "trapeze", "args": ["mcp", "--agent", "coder"]}
      }
    }

Some have a command for it, or a file of another kind:

    claude mcp add trapeze -- trapeze mcp --agent coder
    codex mcp add trapeze -- trapeze mcp --agent coder
    VS Code, .vscode/mcp.json    {"servers": {"trapeze": {"type": "stdio", "command": "trapeze", "args": ["mcp", "--agent", "coder"]}}}

Let the client wait 60 seconds or more for a tool, which is what most do unasked: inbox blocks for up to 50 when told to.

The server. On this machine, with no further settings, one is started in the background where none answers. It outlives the
client and serves all of them; trapeze stop ends it, and --no-start keeps one from being started. For a server elsewhere put
TRAPEZE_URL and TRAPEZE_TOKEN into the client's settings, where it lets environment variables be set; the token must be the
agent's own (trapeze token create --agent coder). When the server is started again, a session goes on: calls are tried for
some seconds, then refused as unavailable, and an inbox that is waited for is waited for again. So is the end of a task that a
client has asked to be told of.

Who speaks. The session acts as the agent, and nobody else: on the server's own machine the owner's token is used once, to
make the agent's, which is kept (see trapeze help files). An agent that is not there is registered, with --capability and
--description, and the log of the client says so: a name that was mistyped is a new agent.

Signs of life. While the client runs, its agent counts as present, and the tasks that it accepted, made or worked on in this
session keep their lease, however long its model thinks. When the client ends, or is killed, they are recovered when their
lease does.

Input ends the session, and so do SIGINT and SIGTERM. What goes wrong is written to standard error, which clients keep in a
log of theirs. To try it by hand:

    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
    "clientInfo":{"name":"me","version":"1"}}}' | tr -d '\n' | trapeze mcp --agent coder`
