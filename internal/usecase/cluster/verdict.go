package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
	"github.com/trapezehq/trapeze/internal/record/replica"
)

// verdict says whether a node can be stopped now.
func (s *Status) verdict(n Node, k Known) Stop {
	if n.State == Unknown {
		return Stop{Why: "it is not heard of, but " + k.deaf(), Do: k.askAgain()}
	}
	if n.State == Silent {
		return Stop{Why: "it is not heard of", Do: gone(n, k)}
	}
	if k.Engine == Directory {
		return Stop{Why: "it is the only one: nobody is served while it is stopped", Do: "what is acknowledged is on its disk, and clients repeat their calls when it is back"}
	}
	if k.Engine == Nodes {
		if stop, ok := s.quorum(n, k); !ok {
			return stop
		}
	}
	others := s.names(func(o Node) bool { return o.Name != n.Name && o.State == Ready })
	if unknown := s.names(func(o Node) bool { return o.State == Unknown }); len(others) == 0 && len(unknown) > 0 {
		return Stop{Why: "whether " + strings.Join(unknown, ", ") + take(unknown) + " over is not known: " + k.deaf(), Do: k.askAgain()}
	}
	if len(others) == 0 {
		return Stop{Why: "no other node takes work", Do: plain(s.helpers(n))}
	}
	if k.Trouble != "" && k.Engine != Nodes {
		return Stop{Why: "whether the others can do their work is not known: " + k.Trouble, Do: "see to the record first"}
	}
	stop := Stop{Safe: true, Why: strings.Join(others, ", ") + take(others) + " over"}
	if n.State != Drained {
		stop.Do = shellword.Command("trapeze cluster drain", n.Name) + ", so that no call is cut off"
	}
	if n.State != Drained && len(n.Leads) > 0 {
		stop.Do += " and no election is waited for"
	}
	return stop
}

func take(names []string) string {
	if len(names) == 1 {
		return " takes"
	}
	return " take"
}

// deaf says why it is not known whether nodes run that are not heard of.
func (k Known) deaf() string {
	if k.Listens == 0 {
		return k.Here + ", which is asked, cannot listen to the others"
	}
	return fmt.Sprintf("%s, which is asked, has listened for %s only", k.Here, k.Listens.Round(100*time.Millisecond))
}

// askAgain says what to do then.
func (k Known) askAgain() string {
	if k.Listens == 0 && k.Trouble != "" {
		return "see to the record first"
	}
	return fmt.Sprintf("ask again in %s", (Silence - k.Listens).Round(time.Second))
}

// quorum says why the replicas that would be left are not enough; ok: they are.
func (s *Status) quorum(n Node, k Known) (stop Stop, ok bool) {
	if k.Trouble != "" || len(k.Groups) == 0 {
		return Stop{Why: "where the replicas are is not known: " + k.Trouble, Do: plain(s.leaders(n))}, false
	}
	for _, g := range k.Groups {
		left := g.Without(n.Name)
		if !g.Has(n.Name) || left >= g.Majority() {
			continue
		}
		return Stop{
			Why: fmt.Sprintf("without it %d of %d replicas of %s would be there, and %d are needed", left, len(g.Peers), g.Name, g.Majority()),
			Do:  plain(s.helpers(n)),
		}, false
	}
	return Stop{}, true
}

// apart says which nodes are heard of where the cluster does nothing, and what to do.
func (s *Status) apart(k Known) string {
	hears := "no other node"
	if list := s.names(func(o Node) bool { return o.Name != k.Here && o.State != Silent && o.State != Unknown }); len(list) > 0 {
		hears = strings.Join(list, ", ")
	}
	lacks := s.names(func(o Node) bool { return o.State == Silent || o.State == Unknown })
	if len(lacks) == 0 {
		return k.Here + " hears " + hears + ": see the logs of the nodes if it stays so"
	}
	return fmt.Sprintf("%s hears %s, and not %s: start what does not run, or see why %[1]s cannot reach it. Until then changes are refused here, and nothing is lost", k.Here, hears, strings.Join(lacks, ", "))
}

// helpers says, as a hint, what to do so that a node can be stopped.
func (s *Status) helpers(n Node) string {
	silent := s.names(func(o Node) bool { return o.State == Silent })
	late := s.names(func(o Node) bool { return o.Name != n.Name && o.State != Silent && len(o.Lacks) > 0 })
	drained := s.names(func(o Node) bool { return o.Name != n.Name && o.State == Drained })
	broken := s.names(func(o Node) bool { return o.Name != n.Name && o.State == NotReady })
	switch {
	case len(silent) > 0:
		return "start " + strings.Join(silent, ", ") + " again, or replace it"
	case len(late) > 0:
		return "wait until " + strings.Join(late, ", ") + " has caught up"
	case len(broken) > 0:
		return "see what is wrong with " + strings.Join(broken, ", ")
	case len(drained) > 0:
		return help.To("have another one take work again", "cluster resume", drained[0])
	}
	return "[start another node](cluster add) first"
}

// leaders says what to do while nobody says where the replicas are: if all nodes run and agree, an election is on.
func (s *Status) leaders(n Node) string {
	if slices.ContainsFunc(s.Nodes, func(o Node) bool { return o.State != Ready || len(o.Lacks) > 0 }) {
		return s.helpers(n)
	}
	return "ask again in a few seconds, after the election; if it stays so, see the logs of the nodes"
}

// plain returns a hint as text in which commands do what helps.
func plain(hint string) string {
	text, helps := help.Parse(hint)
	return help.Explain(text, helps, help.Help.Command)
}

// gone says what to do about a node that is not heard of.
func gone(n Node, k Known) string {
	if k.Engine == Nodes && (k.Trouble != "" || slices.ContainsFunc(k.Groups, func(g replica.Group) bool { return g.Has(n.Name) })) {
		return "start it again; or, if its disk is lost, trapeze cluster add, and then " + shellword.Command("trapeze cluster remove", n.Name)
	}
	return "start it again, or " + shellword.Command("trapeze cluster remove", n.Name)
}

func (s *Status) names(is func(Node) bool) (names []string) {
	for _, n := range s.Nodes {
		if is(n) {
			names = append(names, n.Name)
		}
	}
	return names
}
