package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// State is what a node does.
type State string

// The states of nodes.
const (
	Ready    State = "ready"     // it takes work
	Drained  State = "drained"   // it takes no new work, and may be about to be stopped
	NotReady State = "not-ready" // it runs, and cannot do its work
	Unknown  State = "unknown"   // the node that is asked has not listened for long enough to tell
	Silent   State = "silent"    // it is not heard of
)

// States are all of them.
func States() []State { return []State{Ready, Drained, NotReady, Unknown, Silent} }

// Engine is what keeps a record.
type Engine string

// The engines.
const (
	Directory  Engine = "directory"  // the data directory of its only server
	PostgreSQL Engine = "postgresql" // a database
	NATS       Engine = "nats"       // a NATS cluster that others run
	Nodes      Engine = "nodes"      // the servers themselves, each a node of a NATS cluster
)

// Engines are all of them.
func Engines() []Engine { return []Engine{Directory, PostgreSQL, NATS, Nodes} }

// Status is the servers of a record, and whether they can do without one.
type Status struct {
	Engine   Engine          `json:"engine" doc:"What keeps the record: the data directory of the only server, a database, a NATS cluster, or the servers, each a node of one."`
	Asked    string          `json:"asked" doc:"Name of the node that answers: the others are as it knows them."`
	Position ledger.Position `json:"position" doc:"Newest entry of the record; 0 if it cannot be reached."`
	Trouble  string          `json:"trouble,omitempty" doc:"Why the record cannot be reached, or where its replicas are is not known."`
	Nodes    []Node          `json:"nodes" doc:"By name."`
	Groups   []ReplicaGroup  `json:"groups" doc:"The replicas of the record in NATS JetStream; empty with any other engine."`
}

// Node is one server.
type Node struct {
	Name      string          `json:"name"`
	URL       string          `json:"url,omitempty" doc:"Where it listens."`
	Version   string          `json:"version,omitempty"`
	State     State           `json:"state"`
	Why       string          `json:"why,omitempty" doc:"Why it is not ready."`
	Heard     event.Duration  `json:"heard" doc:"How long ago it was heard of; without an address, never."`
	Position  ledger.Position `json:"position" doc:"Its lists have everything up to there."`
	Behind    uint64          `json:"behind" doc:"How many entries its lists lack."`
	BehindFor event.Duration  `json:"behind_for" doc:"Age of the oldest of them."`
	Turn      bool            `json:"turn" doc:"It does what one node must do alone, such as sending alerts."`
	Leads     []string        `json:"leads" doc:"Groups of replicas that it leads."`
	Lacks     []string        `json:"lacks" doc:"Groups of replicas of which it lacks something."`
	Stop      Stop            `json:"stop"`
}

// Stop says whether a node can be stopped now.
type Stop struct {
	Safe bool   `json:"safe" doc:"The others go on without it."`
	Why  string `json:"why" doc:"Why it is safe, or not."`
	Do   string `json:"do,omitempty" doc:"What to do first."`
}

// ReplicaGroup is so many replicas of one thing, which goes on while a majority of them is there.
type ReplicaGroup struct {
	Name     string   `json:"name" doc:"Name of a stream, or cluster: what all nodes know about each other."`
	Leader   string   `json:"leader,omitempty" doc:"Empty: there is none, and the group does nothing."`
	Replicas []string `json:"replicas" doc:"Servers that have one."`
	Lacking  []string `json:"lacking" doc:"Those of them that are not there, or lack something."`
	Majority int      `json:"majority" doc:"How many of them must be there."`
}

// Show shows the servers of the record. It is for operators and administrators of the workspace default.
func (cl *Cluster) Show(ctx context.Context, c caller.Caller) (Status, error) {
	if err := cl.may(ctx, c, identity.ManageAgents, "show-cluster", ""); err != nil {
		return Status{}, err
	}
	return statusOf(cl.servers.Known(ctx)), nil
}

func statusOf(k Known) Status {
	s := Status{Engine: k.Engine, Asked: k.Here, Position: k.Last, Trouble: k.Trouble, Nodes: []Node{}, Groups: []ReplicaGroup{}}
	for _, m := range k.Members {
		s.Nodes = append(s.Nodes, nodeOf(m, k))
	}
	for _, g := range k.Groups {
		s.Groups = append(s.Groups, ReplicaGroup{Name: g.Name, Leader: g.Leader, Replicas: []string{}, Lacking: append([]string{}, g.Lacking()...), Majority: g.Majority()})
		for _, p := range g.Peers {
			of := &s.Groups[len(s.Groups)-1]
			of.Replicas = append(of.Replicas, p.Name)
			if k.Engine == Nodes && !slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.Name == p.Name }) { // its replica is known, and it was never heard of
				s.Nodes = append(s.Nodes, Node{Name: p.Name, State: k.unheard(), Heard: event.Duration(p.Silent.Round(time.Second)), Leads: []string{}, Lacks: []string{}})
			}
		}
	}
	slices.SortFunc(s.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) })
	if k.Engine == Nodes {
		s.place()
	}
	if i := slices.IndexFunc(s.Groups, func(g ReplicaGroup) bool { return g.Leader == "" }); k.Trouble == "" && i >= 0 {
		k.Trouble = s.Groups[i].Name + " has no leader: an election is on, or a majority is missing"
		s.Trouble = k.Trouble
	}
	if k.Engine == Nodes && k.Trouble != "" {
		s.Trouble += "; " + s.apart(k)
	}
	for i := range s.Nodes {
		s.Nodes[i].Stop = s.verdict(s.Nodes[i], k)
	}
	return s
}

// place notes at each node which groups it leads, and of which it lacks something.
func (s *Status) place() {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for _, g := range s.Groups {
			if g.Leader == n.Name {
				n.Leads = append(n.Leads, g.Name)
			}
			if slices.Contains(g.Lacking, n.Name) {
				n.Lacks = append(n.Lacks, g.Name)
			}
		}
	}
}

// unheard is the state of a node that the one that is asked does not hear of.
func (k Known) unheard() State {
	if k.Listens < Silence {
		return Unknown
	}
	return Silent
}

func nodeOf(m frontend.Seen, k Known) Node {
	n := Node{
		Name: m.Name, URL: m.URL, Version: m.Version, State: Ready, Heard: event.Duration(m.Ago.Round(100 * time.Millisecond)), Position: m.Viewed, Turn: m.Turn,
		Leads: []string{}, Lacks: []string{},
	}
	n.Behind, n.BehindFor = uint64(max(m.Last, m.Viewed)-m.Viewed), event.Duration(m.Behind.Round(100*time.Millisecond))
	switch {
	case m.Ago > Silence:
		n.State, n.Turn = k.unheard(), false
		n.Behind = uint64(max(k.Last, m.Viewed) - m.Viewed)
		n.BehindFor += event.Duration(m.Ago.Round(time.Second))
	case m.Drained:
		n.State = Drained
	case m.Trouble != "":
		n.State, n.Why = NotReady, m.Trouble
	}
	return n
}
