package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

const (
	// maxHookInput is how many bytes of a hook's input are read.
	maxHookInput = 1 << 20
	// hookWait is how long a hook may keep a client waiting.
	hookWait = 5 * time.Second
	// hookItems is how many items are told one by one.
	hookItems = 5
)

const hookLong = `Answer a hook of Claude Code or Codex CLI that runs when a turn ends (the event Stop): where something waits in the agent's
inbox, the agent is kept from ending its turn and told what waits. "trapeze init --hook" puts it into their files.

It reads the hook's JSON from standard input and prints the answer. It never asks twice in a row: a turn that it has prolonged
may end. It says nothing where no server answers, and in a program that trapeze work runs, which has its task. An error ends with
exit code 1, which keeps nobody from ending a turn.

    echo '{"hook_event_name":"Stop"}' | trapeze hook --agent claude`

// Hook is the command trapeze hook. It answers Claude Code's event Stop (code.claude.com/docs/en/hooks): JSON on standard input with "hook_event_name" and
// "stop_hook_active", which is true in a turn that a hook has prolonged; {"decision": "block", "reason": …} on standard
// output with exit code 0 prolongs it, and the model reads the reason. Exit code 2 would do so, too, whatever went wrong.
// Codex CLI has the same event, in and out (developers.openai.com/codex/hooks).
func Hook(s *shell.Shell) *cobra.Command {
	cmd := s.Command("hook", "Answer a client's hook: show an idle agent its inbox", shell.NoArgs, func(ctx context.Context, _ []string) error {
		if err := answerHook(ctx, s); err != nil {
			return harmless{err}
		}
		return nil
	})
	cmd.Long = hookLong
	return cmd
}

// harmless is an error that must not keep a client from ending its turn, as the exit code 2 would.
type harmless struct{ error }

func (harmless) ExitCode() int { return 1 }

func (h harmless) Unwrap() error { return h.error }

// hookInput is what a hook is told.
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
		return fmt.Errorf("standard input has no hook's JSON: %w", err)
	}
	if in.Event != "Stop" || in.Active || s.OwnTask() != "" {
		return nil
	}
	agent := s.Flags.Agent
	if agent == "" {
		return errors.New("say whose inbox: --agent NAME")
	}
	ctx, cancel := context.WithTimeout(ctx, hookWait)
	defer cancel()
	if answers(ctx, s) != nil {
		return nil // where no server is, nothing waits
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

// reason tells an agent what waits. What others wrote stands in quotation marks, on one line, and short.
func reason(agent string, items []trapeze.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Before you end your turn: work waits in the Trapeze inbox of %s. What is in quotation marks was written by others.\n", agent)
	for i, item := range items {
		if i == hookItems {
			b.WriteString("- and more\n")
			break
		}
		fmt.Fprintf(&b, "- %s %s from %s, priority %s: %q\n", item.Type, item.ID, shell.OneLine(item.From), item.Priority, shell.Clip(shell.OneLine(item.Intent), 200))
	}
	b.WriteString("Look with the trapeze tool inbox. Accept what you can do now and finish it; reject what you cannot, and say why. " +
		"Then look into the inbox again until nothing is left that you can do. If your user wants something else first, end your turn.")
	return b.String()
}
