package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// look is how often it is looked whether a new server is there.
const look = time.Second

func add(s *shell.Shell) *cobra.Command {
	var wait time.Duration
	cmd := s.Call("add", "Wait until a server that is started elsewhere has joined", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		ctx, cancel := context.WithTimeoutCause(ctx, wait, shell.Usagef("no server has joined for %s: see its log, and repeat the command", wait))
		defer cancel()
		before, err := settled(ctx, c)
		if err != nil {
			return err
		}
		if before.Engine == admin.EngineDirectory {
			return shell.Hinted(shell.Usagef("the record of this server is in its data directory, which has one server"), "docs/cluster.md says how it moves to where several share it")
		}
		s.Show(func(p *shell.Page) { howTo(p, before) })
		for {
			k, err := admin.New(c).ShowCluster(ctx)
			if name, there := joined(before, k); err == nil && there {
				return s.Emit(k, func(p *shell.Page) {
					p.Line("%s has joined.", name)
					stop(p, k, name)
				})
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(look):
			}
		}
	})
	cmd.Flags().DurationVar(&wait, "wait", 10*time.Minute, "how long to wait for it")
	cmd.Long = `Say how a server is started that joins the others, and wait until it has: it is heard of, and is ready. A server joins by being started with the right flags;
this command changes nothing by itself.`
	return shell.Example(cmd, "trapeze cluster add --wait 2m")
}

// settled returns what a server knows of the others as soon as it has heard of those that run: otherwise each of them would seem to join.
func settled(ctx context.Context, c *client.Client) (admin.Cluster, error) {
	for {
		k, err := admin.New(c).ShowCluster(ctx)
		if err != nil || !slices.ContainsFunc(k.Nodes, func(n admin.Node) bool { return n.State == admin.NodeUnknown }) {
			return k, err
		}
		select {
		case <-ctx.Done():
			return k, context.Cause(ctx)
		case <-time.After(look):
		}
	}
}

// joined returns the first node that takes work and did not before.
func joined(before, now admin.Cluster) (name string, there bool) {
	had := map[string]bool{}
	for _, n := range before.Nodes {
		had[n.Name] = n.State != admin.NodeSilent
	}
	for _, n := range now.Nodes {
		if n.State == admin.NodeReady && !had[n.Name] {
			return n.Name, true
		}
	}
	return "", false
}

// howTo says how a server is started that joins.
func howTo(p *shell.Page, k admin.Cluster) {
	switch k.Engine {
	case admin.EngineNodes:
		p.Line("Start it with an empty data directory, the name of the cluster, the addresses for nodes of some that run, and the secret or certificates of the others:")
		p.Line("    trapeze serve --data-dir DIR --cluster-name NAME --cluster-addr HOST:6222 --join HOST1:6222,HOST2:6222")
	case admin.EngineNATS:
		p.Line("Start it with an empty data directory, and TRAPEZE_NATS and --nats-monitor as the others:")
		p.Line("    trapeze serve --data-dir DIR --addr HOST:8727")
	case admin.EnginePostgreSQL:
		p.Line("Start it with an empty data directory, and TRAPEZE_POSTGRES as the others:")
		p.Line("    trapeze serve --data-dir DIR --addr HOST:8727")
	case admin.EngineDirectory: // was refused
	}
}
