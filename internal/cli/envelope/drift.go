package envelope

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/content/drift"
)

// Drift is the command trapeze drift.
func Drift(s *shell.Shell) *cobra.Command {
	cmd := s.TaskCall("drift [TASK]", "Report what each hop of a task kept, changed, omitted and dropped", func(ctx context.Context, c *client.Client, task string) error {
		d, err := c.Drift(ctx, task)
		if err != nil {
			return err
		}
		r, err := report(d)
		return s.Answer(d, err, func(p *shell.Page) { p.Block(drift.Table(r)) })
	})
	cmd.Long = `Report what each hop of a task did to its facts, decisions, constraints and references: kept, changed, omitted or dropped. A hop
is from one sender to the next receiver. The read is recorded.`
	return shell.Example(cmd, "trapeze drift $TASK")
}

// report converts the server's answer, whose JSON is the same.
func report(d client.Drift) (r drift.Report, err error) {
	b, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}
