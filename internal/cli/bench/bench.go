package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Help is the help of trapeze bench.
const help = `Measure handoffs on your own server: for each number of clients, so many agents at once create tasks, hand them off, see
them in their inboxes, accept and complete them. Needs the token of an administrator.

    trapeze bench --clients 1,100,1000 --for 60s
    trapeze bench --kind delegation --envelope 4000
    trapeze bench --over mcp --kind claim --clients 10

The kinds: warm hands a task to one agent; delegation gives a part to another agent and waits for its result; claim offers a task to three
agents at once, of which one gets it.

The stages: create, accept and complete are the calls (over MCP, the create of a delegation is two); seen is from the request until the receiver has the offer, received until it owns the
task, result until the sender of a delegation has the result, and whole until the task is completed.

Each round warms up first, for up to a second and until each client has done a handoff; what ends after that, until the time is over, counts. Time in which it stands still, as after Ctrl-Z, is left out, and so is what is under way then.

Everything happens in a workspace of its own. At the end, also after Ctrl-C or when the terminal is closed, its tasks are cancelled, its agents and tokens removed, and it is archived; the
record keeps what happened, about 3 KB for each handoff. What a run that was killed left is cleaned up by the next one on the same machine; with --clean on any machine, if nothing has happened there for 10 seconds. A server with open tasks, in any workspace, is only measured with --yes: the load slows their agents
down.

The exit code is 0 if all verdicts are met: no handoff failed; with one client, an offer is seen within 25 ms (p99); with 1,000 and more over
HTTP, a handoff takes less than 300 ms from request to completion (p99). It is 1 if one is not. If the run is refused or cannot go on, it is that of the error, such as 2 for options that make no sense and 6 for a server that
is gone: see trapeze help exit-codes.`

// Command is trapeze bench.
func Command(s *shell.Shell) *cobra.Command {
	var o Options
	cmd := s.Command("bench", "Measure handoffs under load on your own server", shell.NoArgs, func(ctx context.Context, _ []string) error {
		if err := o.check(); err != nil {
			return err
		}
		ctx, stop := attended(ctx)
		defer stop()
		owner, err := s.Dial(ctx)
		if err != nil {
			return err
		}
		if o.TLS, err = s.TLS(); err != nil {
			return err
		}
		if err := mayRun(ctx, owner, o.Yes || o.Clean); err != nil {
			return err
		}
		if o.Clean {
			swept, err := sweep(ctx, owner, o, still)
			return errors.Join(s.Emit(swept, swept.print), err)
		}
		if swept, err := sweep(ctx, owner, o, still); err != nil {
			s.Notef("%v", err)
		} else if len(swept.Cleaned) > 0 && !s.Flags.Quiet {
			s.Notef("cleaned up what a run that was killed left: workspace %s", strings.Join(swept.Cleaned, ", "))
		}
		rep, err := run(ctx, owner, o, func(format string, args ...any) {
			if !s.Flags.Quiet {
				s.Notef(format, args...)
			}
		})
		if rep != nil && len(rep.Rounds) > 0 {
			if err := s.Emit(rep, rep.print); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		switch missed := rep.missed(); {
		case rep.Interrupted:
			return errors.New("interrupted")
		case missed > 0:
			return fmt.Errorf("%d of %d verdicts are missed", missed, len(rep.Verdicts))
		}
		return nil
	})
	cmd.Long = help
	f := cmd.Flags()
	f.IntSliceVar(&o.Clients, "clients", []int{1, 100, 1000}, "how many clients at once, one round each")
	shell.Choice(f, &o.Kind, "kind", kindWarm, "kind of load: %s", []string{kindWarm, kindDelegation, kindClaim})
	f.IntVar(&o.Envelope, "envelope", 0, "about how many tokens of facts each handoff carries (default: 1 KiB of data)")
	f.DurationVar(&o.For, "for", 10*time.Second, "how long each round takes")
	shell.Choice(f, &o.Over, "over", overHTTP, "protocol: %s", []string{overHTTP, overMCP})
	f.BoolVar(&o.Direct, "direct", false, "receivers accept by id, without waiting for their inboxes: three calls for each handoff")
	f.BoolVar(&o.Clean, "clean", false, "only clean up what runs left that were killed")
	f.BoolVar(&o.Yes, "yes", false, "run although the server has open tasks")
	return cmd
}

// mayRun refuses a server with open tasks, and callers who are not its administrators.
func mayRun(ctx context.Context, owner *client.Client, yes bool) error {
	me, err := owner.Me(ctx)
	if err != nil {
		return err
	}
	if me.Role != client.RoleAdmin {
		return shell.Hinted(shell.Usagef("bench needs the token of an administrator, and this is one of %s %s", me.Role, me.Name),
			"run it on the machine of the server without --agent, or with --token and the owner's token")
	}
	if yes {
		return nil
	}
	const hint = "the load slows their agents down; with --yes it runs nevertheless"
	open, err := owner.Tasks(ctx, client.TaskFilter{Live: true, Limit: 1})
	if err != nil {
		return err
	}
	if len(open.Tasks) > 0 {
		return shell.Hinted(shell.Usagef("the server has open tasks, such as %s", open.Tasks[0].ID), hint)
	}
	busy, n, err := busyWorkspace(ctx, owner)
	if err == nil && busy != "" {
		err = shell.Hinted(shell.Usagef("the server has open tasks: %d in workspace %s", n, busy), hint)
	}
	return err
}

// run measures each number of clients in turn, and cleans up. A report comes with every error that is not that of setting up.
func run(ctx context.Context, owner *client.Client, o Options, note func(format string, args ...any)) (rep *Report, err error) {
	f := &field{o: o, waiting: map[string]*waiter{}}
	st, err := build(ctx, owner, o)
	defer func() {
		if f.gone.Load() || st.token == "" { // another has cleaned up, or there is nothing
			st.unmark()
			return
		}
		note("cleaning up workspace %s", st.workspace)
		if left := st.clear(ctx); left != nil {
			err = errors.Join(err, shell.Hinted(fmt.Errorf("workspace %s is not cleaned up: %w", st.workspace, left),
				fmt.Sprintf("workspace %s is left: when the server can be reached, trapeze bench --clean cleans it up, and so does the next run; until then its tokens are valid", st.workspace)))
		}
	}()
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		return nil, err
	}
	rep = &Report{Kind: o.Kind, Over: o.Over, Envelope: o.Envelope, Direct: o.Direct, Workspace: st.workspace, Rounds: []Round{}, Verdicts: []Verdict{}}
	f.parties, f.names = st.by, st.names
	for _, clients := range o.Clients {
		if ctx.Err() != nil {
			break
		}
		s := newSamples()
		p := newPeriod(clients, o.For, time.Now())
		stop := progress(p, s, note)
		took, stood := f.run(ctx, p, s)
		stop()
		r := round(clients, took.Seconds(), s)
		r.Stood = stood.Seconds()
		rep.Rounds = append(rep.Rounds, r)
		if f.gone.Load() {
			return rep, shell.Hinted(fmt.Errorf("workspace %s was cleaned up during the run, probably with trapeze bench --clean", st.workspace),
				"start it again: with --clean on another machine, a run that stands still for 10 seconds, such as after Ctrl-Z, is taken for one that was killed")
		}
	}
	rep.Interrupted = ctx.Err() != nil
	rep.judge()
	return rep, nil
}

// people is a number of clients in words.
func people(clients int) string {
	if clients == 1 {
		return "1 client"
	}
	return fmt.Sprintf("%d clients", clients)
}

// every is the interval of notes on the progress.
const every = 5 * time.Second

// progress notes what was done so far, until it is stopped.
func progress(p *period, s *samples, note func(format string, args ...any)) (stop func()) {
	var before time.Duration
	last := 0
	tick, done, ended := time.NewTicker(every), make(chan struct{}), make(chan struct{})
	who := people(p.clients)
	note("%s for %s", who, p.run)
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			open := p.open(time.Now())
			n, failed := s.count()
			rate := 0.0
			if open > before {
				rate = float64(n-last) / (open - before).Seconds()
			}
			note("%s, %s of %s: %d handoffs, %.0f per second now, %d failed", who, client.Duration(min(open.Round(time.Second), p.run)), client.Duration(p.run), n, rate, failed)
			last, before = n, open
		}
	}()
	return func() {
		tick.Stop()
		close(done)
		<-ended
		n, failed := s.count()
		note("%s: %d handoffs in all, %d failed", who, n, failed)
	}
}
