package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/cli/stdio"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

func (s *commands) mcpCommand() *cobra.Command {
	var spec client.AgentSpec
	var noStart bool
	var prefix, tools string
	cmd := s.Command("mcp [--agent NAME]", "Run an agent's MCP server, on standard input and output", shell.NoArgs,
		func(ctx context.Context, _ []string) error {
			ctx, stop := shell.Interruptible(ctx)
			defer stop()
			agent := s.clientAgent()
			given := cmp.Or(s.Flags.Token, s.Getenv("TRAPEZE_TOKEN"))
			if agent == "" && given == "" {
				return s.NeedAgent(ctx, nil, "name the agent of the MCP client: --agent NAME")
			}
			set, err := toolset.New(prefix, tools)
			if err != nil {
				return shell.Usage(err)
			}
			if !noStart {
				if err := s.ensureServer(ctx); err != nil {
					return err
				}
			}
			if agent == "" {
				if agent, err = s.tokenAgent(ctx); err != nil {
					return err
				}
			}
			token, err := s.agentToken(ctx, agent, spec)
			if err != nil {
				return err
			}
			trust, err := s.TLS()
			if err != nil {
				return err
			}
			c, err := stdio.NewClient(s.URLs(), token, client.Options{UserAgent: "trapeze-mcp/" + shell.Version(), TLS: trust})
			if err != nil {
				return shell.Usage(err)
			}
			defer c.Close()
			tracer, end := s.traces(ctx)
			defer end()
			err = stdio.Run(ctx, c, stdio.Options{
				Agent: agent, Token: token, Spec: spec, Version: shell.Version(), Tools: set, Tracer: tracer, In: s.Stdin, Out: s.JSONOut(), Stderr: s.Stderr,
			})
			if errors.Is(err, stdio.ErrNotAgent) {
				err = shell.Hinted(shell.Usage(err), "omit the token, or use the agent's own: trapeze token create --agent "+shellword.Quote(agent))
			}
			return err
		})
	cmd.Long = mcpHelp
	f := cmd.Flags()
	f.BoolVar(&noStart, "no-start", false, "do not start a server if none is running")
	f.StringVar(&prefix, "prefix", "", "prefix of the names of the tools, such as trapeze_")
	shell.Choice(f, &tools, "tools", "default", "which tools: %s", toolset.Names())
	f.StringSliceVar(&spec.Capabilities, "capability", nil, "capability, if the agent is new (repeatable)")
	f.StringVar(&spec.Description, "description", "", "description, if the agent is new")
	return cmd
}

// isNamed reports whether addresses are those that the session calls.
func (s *commands) isNamed(urls string) bool {
	sorted := func(list string) []string { return slices.Sorted(strings.SplitSeq(list, ",")) }
	return slices.Equal(sorted(urls), sorted(s.URLs()))
}

// lastSpans is how long the spans of the last calls are sent after the end of a session.
const lastSpans = time.Second

// traces returns the tracer of calls of tools, if the environment names a collector of OpenTelemetry, and what ends it. An environment for which there is
// none does not prevent the session: it may be meant for the client alone.
func (s *commands) traces(ctx context.Context) (tracer tracing.Tracer, end func()) {
	none := func() {}
	on, err := otelapi.TracesConfigured()
	if err == nil && !on {
		return nil, none
	}
	log := slog.New(slog.NewTextHandler(s.Stderr, nil))
	var traces *otelapi.Traces
	if err == nil {
		traces, err = otelapi.OpenTraces(ctx, otelapi.Options{Version: shell.Version(), Log: log, Stdio: true})
	}
	if err != nil {
		log.Warn("the session has no spans", "error", err)
		return nil, none
	}
	return traces, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
		defer cancel()
		if err := traces.Close(last); err != nil {
			log.Warn("the last spans of calls could not be sent", "error", err)
		}
	}
}

// clientAgent is the agent of the MCP client. A client that is the program of trapeze work is the worker's agent, which owns the task,
// whatever agent its file names; but a server other than the worker's never gets the worker's token.
func (s *commands) clientAgent() string {
	named, worker := s.agentName(), s.Getenv("TRAPEZE_AGENT")
	if s.OwnTask() == "" || worker == "" || worker == named || !s.isNamed(s.Getenv("TRAPEZE_URL")) {
		return named
	}
	fmt.Fprintf(s.Stderr, "trapeze mcp: trapeze work runs this client, so it is the agent %s, not %s\n", shell.OneLine(worker), shell.OneLine(named))
	s.Flags.Agent = ""
	return worker
}

// tokenAgent is the agent whose token was given.
func (s *commands) tokenAgent(ctx context.Context) (string, error) {
	c, err := s.Dial(ctx)
	if err != nil {
		return "", err
	}
	me, err := c.Me(ctx)
	if err == nil && me.Agent == "" {
		err = shell.Hinted(shell.Usagef("the token is not that of an agent, but of %s, whose role is %s", shell.OneLine(me.Name), me.Role),
			"with an administrator's token name the agent of the MCP client: trapeze mcp --agent NAME; or use the agent's own: trapeze token create --agent NAME")
	}
	return me.Agent, err
}

// agentToken returns the agent's own token, and registers the agent if it is new. A session never uses the owner's token: see
// [stdio.Run].
func (s *commands) agentToken(ctx context.Context, agent string, spec client.AgentSpec) (string, error) {
	if s.Getenv("TRAPEZE_AGENT") != agent {
		s.Flags.Agent = agent
	}
	token, err := s.Credential(ctx)
	if errors.Is(err, client.NotFound) { // only registered agents can have a token
		c, _, err := s.Register(ctx, agent, spec, false)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(s.Stderr, "trapeze mcp: "+shell.OneLine(shell.NewAgentMessage(ctx, c, "trapeze mcp", agent)))
		return s.Credential(ctx)
	}
	return token, err
}

// ensureServer starts a server that outlives this process, if none answers.
func (s *commands) ensureServer(ctx context.Context) error {
	dir, err := s.DataDir()
	if err != nil {
		return shell.Usage(err)
	}
	asks, err := s.HTTP()
	if err != nil {
		return err
	}
	out, err := daemon.Ensure(ctx, daemon.Config{URL: s.URL(), DataDir: dir, HTTP: asks})
	if err == nil && out.Started {
		fmt.Fprintf(s.Stderr, "trapeze mcp: started a server at %s, with its log in %s; trapeze stop ends it\n", out.URL, daemon.LogFile(out.DataDir))
	}
	return err
}

// mcpHelp is the help of trapeze mcp, for people that configure a client by hand.
const mcpHelp = `Run the MCP server of one agent. An MCP client starts this command, and exchanges messages with it over standard input and output.
The client's model then has the tools join, send, inbox, accept, reject, decide, progress, complete, escalate, ask,
status, cancel, remember, recall, conversation and route. Tell it to call join first.

--prefix trapeze_    call the tools trapeze_join, trapeze_send and so on. A client that puts the tools of all servers into one list
                     needs it where another server has tools of the same names; trapeze init writes it for Cursor. Claude Code,
                     Codex CLI, VS Code, Gemini CLI and opencode name it before its tools. Over HTTP: /mcp?prefix=trapeze_
--tools worker       only the tools of an agent that receives tasks and sends none: inbox, accept, reject, progress, complete, ask and
                     status. Over HTTP: /mcp?tools=worker
--tools all          every tool, with every argument, for agents and operators that need more: settings of a task and a handoff, constrain,
                     artifact, channel, dead, agent, annotate, alerts and do

Give every client an agent of its own. Most clients are configured with a file like this (` + "`trapeze`" + ` must be in the client's
PATH, or be given as an absolute path):

    {
      "mcpServers": {
        "trapeze": {"command": "trapeze", "args": ["mcp", "--agent", "coder"]}
      }
    }

Some clients have a command for it, or another file format:

    claude mcp add trapeze -- trapeze mcp --agent coder
    codex mcp add trapeze -- trapeze mcp --agent coder
    VS Code, .vscode/mcp.json    {"servers": {"trapeze": {"type": "stdio", "command": "trapeze", "args": ["mcp", "--agent", "coder"]}}}

The client's timeout for tool calls must be 60 seconds or more, which is the default of most clients: inbox waits up to 50 seconds.

Server. On this machine, without further settings, a server is started in the background if none answers. It serves all clients, and
keeps running when they end; trapeze stop ends it, and --no-start prevents the start. For a server on another machine set
TRAPEZE_URL and TRAPEZE_TOKEN in the client's settings, and TRAPEZE_CA if its certificate is of a CA of your own. The token must be the agent's own (trapeze token create --agent coder); then --agent can be omitted.
Sessions survive a restart of the server: a call that the server does not answer is repeated for up to 25 seconds, and then refused as
unavailable, which says so; a call of inbox and a subscription to the end of a task continue.

Identity. The session acts as the agent only. On the server's machine the owner's token is used once, to create the agent's token,
which is kept (see trapeze help files). An agent that does not exist is registered, with --capability and --description. The client's
log says so, since a mistyped name is a new agent.

Leases. While the client runs, its agent counts as present, and the leases of the tasks that it accepted, created or worked on in this
session are renewed, however long its model thinks. When the client ends or is killed, its tasks are recovered when their leases
expire.

Traces. With OTEL_EXPORTER_OTLP_ENDPOINT in the client's settings, each call of a tool is a span, in the trace of the task that it is about.

The session ends with its input, or with SIGINT or SIGTERM. Errors are written to standard error, which clients keep in a log. To try it
by hand:

    printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
    "clientInfo":{"name":"me","version":"1"}}}' | tr -d '\n' | trapeze mcp --agent coder`
