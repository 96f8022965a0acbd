package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

const (
	// maxHookInput is the maximum size of a hook's input, in bytes.
	maxHookInput = 1 << 20
	// hookWait is the timeout of a hook, for which the client waits.
	hookWait = 5 * time.Second
	// hookItems is the maximum number of items that are listed.
	hookItems = 5
)

const hookLong = `Answer the hook of Claude Code or Codex CLI at the end of a turn (the event Stop): if the agent's inbox is not empty, the agent
continues its turn, and is told what waits. trapeze init --hook adds the hook to the client's file.

The command reads the hook's JSON from standard input, and prints the answer. It does not prolong a turn twice. It prints nothing if no
server answers, and in a program that trapeze work runs, which has a task already. After an error the exit code is 1, which lets the turn
end.

    echo '{"hook_event_name":"Stop"}' | trapeze hook --agent claude`

// Hook is the command trapeze hook. It answers Claude Code's event Stop (code.claude.com/docs/en/hooks): JSON on standard input with "hook_event_name" and
// "stop_hook_active", which is true in a turn that a hook has prolonged; {"decision": "block", "reason": …} on standard
// output with exit code 0 prolongs it, and the model reads the reason. Exit code 2 would prolong it too, after any error.
// Codex CLI has the same event, with the same input and output (developers.openai.com/codex/hooks).
func Hook(s *shell.Shell) *cobra.Command {
	cmd := s.Command("hook", "Answer a client's hook: show the inbox to an agent at the end of its turn", shell.NoArgs, func(ctx context.Context, _ []string) error {
		if err := answerHook(ctx, s); err != nil {
			return harmless{err}
		}
		return nil
	})
	cmd.Long = hookLong
	return cmd
}

// harmless is an error that lets a turn end: the exit code 2 would prolong it.
type harmless struct{ error }

func (harmless) ExitCode() int { return 1 }

func (h harmless) Unwrap() error { return h.error }

// hookInput is the input of a hook.
type hookInput struct {
	Event  string `json:"hook_event_name"`
	Active bool   `json:"stop_hook_active"`
}

func answerHook(ctx context.Context, s *shell.Shell) error {
	b, err := io.ReadAll(io.LimitReader(s.Stdin, maxHookInput))
	if err != nil {
		return err
	}
	var in hookInput
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("standard input is not the JSON of a hook: %w", err)
	}
	if in.Event != "Stop" || in.Active || s.OwnTask() != "" {
		return nil
	}
	agent := s.Flags.Agent
	if agent == "" {
		return s.NeedAgent(ctx, nil, "name the agent whose inbox to show: --agent NAME")
	}
	ctx, cancel := context.WithTimeout(ctx, hookWait)
	defer cancel()
	if serverError(ctx, s) != nil {
		return nil // no server, no inbox
	}
	c, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	box, err := c.Inbox(ctx, trapeze.InboxOptions{Limit: hookItems + 1, Peek: true})
	if err != nil || len(box.Items) == 0 {
		return err
	}
	return json.NewEncoder(s.Stdout).Encode(map[string]string{"decision": "block", "reason": reason(agent, box.Items)})
}

// reason tells an agent what waits. Text of others is quoted, on one line, and shortened.
func reason(agent string, items []trapeze.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Before you end your turn: the Trapeze inbox of %s is not empty. Text in quotation marks was written by others.\n", agent)
	for i, item := range items {
		if i == hookItems {
			b.WriteString("- and more\n")
			break
		}
		fmt.Fprintf(&b, "- %s %s from %s, priority %s: %q\n", item.Type, item.ID, shell.OneLine(item.From), item.Priority, shell.Clip(shell.OneLine(item.Intent), 200))
	}
	b.WriteString("Call the trapeze tool inbox. Accept what you can do now, and finish it; reject what you cannot do, with a reason. " +
		"Then call inbox again, until nothing is left that you can do. If your user wants something else first, end your turn.")
	return b.String()
}
