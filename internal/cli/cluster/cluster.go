package cluster

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// Command is the command group trapeze cluster.
func Command(s *shell.Shell) *cobra.Command {
	return shell.Group("cluster", "Servers that share a record: which can be stopped, drain one, replace one", status(s), drain(s), add(s), remove(s))
}

func status(s *shell.Shell) *cobra.Command {
	cmd := s.Call("status", "Show the servers of the record, and which of them can be stopped now", shell.NoArgs, func(ctx context.Context, c *client.Client, _ []string) error {
		k, err := admin.New(c).ShowCluster(ctx)
		return s.Answer(k, err, func(p *shell.Page) { show(p, k) })
	})
	cmd.Long = `Show the servers of the record, as one of them knows them: how far their lists have come, what they lead, and whether each can be stopped now.
One that was not heard of for ten seconds is silent; a server that has just started says unknown until then. If the server at the first address is gone, name all: --url A,B,C.`
	return shell.Example(cmd, "trapeze cluster status --url http://127.0.0.1:8721,http://127.0.0.1:8722")
}

func drain(s *shell.Shell) *cobra.Command {
	var off bool
	cmd := s.Call("drain [NODE]", "Have a server take no new work, so that it can be stopped", cobra.MaximumNArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		name, err := named(ctx, c, args)
		if err != nil {
			return err
		}
		do := admin.New(c).DrainNode
		if off {
			do = admin.New(c).ResumeNode
		}
		k, err := do(ctx, name)
		return s.Answer(k, err, func(p *shell.Page) {
			if off {
				p.Line("%s takes work again.", name)
				return
			}
			p.Line("%s takes no new work.", name)
			stop(p, k, name)
		})
	})
	cmd.Flags().BoolVar(&off, "off", false, "have it take work again; a restart does the same")
	cmd.Long = `Have a server take no new work: it is not ready any more, so that balancers take it out; it answers calls that wait, so that clients go on to the next
address; and another one leads what it led. It serves all other calls until it is stopped. Without NODE it is the server that is called.`
	return shell.Example(cmd, "trapeze cluster drain n2")
}

// named returns the node that a command is about: the one that is called, if none is named.
func named(ctx context.Context, c *client.Client, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	k, err := admin.New(c).ShowCluster(ctx)
	return k.Asked, err
}

func remove(s *shell.Shell) *cobra.Command {
	cmd := s.Call("remove NODE", "Remove a server that is gone for good; others get its replicas", cobra.ExactArgs(1), func(ctx context.Context, c *client.Client, args []string) error {
		k, err := admin.New(c).RemoveNode(ctx, args[0])
		return s.Answer(k, err, func(p *shell.Page) {
			p.Line("%s is removed. It must not be started again with its data directory.", args[0])
			for _, g := range k.Groups {
				if len(g.Lacking) > 0 {
					p.Line("Replicas are being made: trapeze cluster status shows when they are complete.")
					break
				}
			}
		})
	})
	cmd.Long = `Remove a server that is gone for good. Only one that is not heard of is removed, and only if three nodes are left where the record is in nodes of a cluster: start
another first (trapeze cluster add). Its replicas are then made on that one.`
	return shell.Example(cmd, "trapeze cluster remove n2")
}

// show prints the state of all.
func show(p *shell.Page, k admin.Cluster) {
	p.Fields([]shell.Field{{"record", where(k.Engine)}, {"newest entry", number(k.Position)}, {"asked", k.Asked}, {"trouble", k.Trouble}})
	p.Line("")
	rows := make([][]string, len(k.Nodes))
	for i, n := range k.Nodes {
		rows[i] = []string{n.Name, string(n.State), n.URL, n.Version, heard(n), number(n.Position), behind(n), part(n), safe(n)}
	}
	p.Table("No server is known.", []string{"NODE", "STATE", "ADDRESS", "VERSION", "HEARD", "POSITION", "BEHIND", "PART", "STOP"}, rows)
	if len(k.Groups) > 0 {
		p.Line("")
		var groups [][]string
		for _, g := range k.Groups {
			groups = append(groups, []string{g.Name, or(g.Leader, "none"), strings.Join(g.Replicas, " "), or(strings.Join(g.Lacking, " "), "-"), fmt.Sprintf("%d of %d", g.Majority, len(g.Replicas))})
		}
		p.Table("", []string{"REPLICAS OF", "LEADER", "SERVERS", "LACKING", "NEEDED"}, groups)
	}
	p.Line("")
	for _, n := range k.Nodes {
		stop(p, k, n.Name)
	}
}

// where says where the record is.
func where(e admin.Engine) string {
	switch e {
	case admin.EngineDirectory:
		return "in the data directory of its only server"
	case admin.EnginePostgreSQL:
		return "in PostgreSQL"
	case admin.EngineNATS:
		return "in a NATS cluster"
	case admin.EngineNodes:
		return "in the servers, which are nodes of a cluster"
	}
	return string(e)
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func number(n uint64) string {
	if n == 0 {
		return "unknown"
	}
	return strconv.FormatUint(n, 10)
}

func heard(n admin.Node) string {
	if n.URL == "" {
		return "never"
	}
	return n.Heard.String() + " ago"
}

func behind(n admin.Node) string {
	switch {
	case n.URL == "":
		return "unknown"
	case n.Behind == 0:
		return "no"
	}
	return fmt.Sprintf("%d, %s", n.Behind, n.BehindFor)
}

// part says what a node does for all.
func part(n admin.Node) string {
	var list []string
	if len(n.Leads) > 0 {
		list = append(list, "leads "+strings.Join(n.Leads, " "))
	}
	if n.Turn {
		list = append(list, "turn")
	}
	if len(n.Lacks) > 0 {
		list = append(list, "lacks "+strings.Join(n.Lacks, " "))
	}
	return or(strings.Join(list, "; "), "-")
}

func safe(n admin.Node) string {
	switch {
	case n.State == admin.NodeSilent, n.State == admin.NodeUnknown:
		return "-"
	case n.Stop.Safe:
		return "yes"
	}
	return "NO"
}

// stop says whether a node can be stopped.
func stop(p *shell.Page, k admin.Cluster, name string) {
	for _, n := range k.Nodes {
		if n.Name != name {
			continue
		}
		what := "do not stop it"
		switch {
		case n.State == admin.NodeSilent, n.State == admin.NodeUnknown:
			what = string(n.State)
		case n.Stop.Safe:
			what = "can be stopped"
		}
		p.Line("%s: %s: %s%s", name, what, n.Stop.Why, then(n.Stop))
		if n.Why != "" {
			p.Line("    not ready: %s", n.Why)
		}
	}
}

func then(s admin.NodeStop) string {
	switch {
	case s.Do == "":
		return "."
	case s.Safe:
		return "; first " + s.Do + "."
	}
	return "; " + s.Do + "."
}
