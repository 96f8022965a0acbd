package cluster

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/replica"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Silence is how long a node that runs is not heard of at most.
const Silence = 10 * time.Second

const (
	// patience is how long a drain waits until the node says that it happened.
	patience = 15 * time.Second
	again    = 200 * time.Millisecond
)

// Servers is the servers that share a record, as one of them knows them.
type Servers interface {
	// Known returns what is known now.
	Known(ctx context.Context) Known
	// Drain asks a node to take no new work, or to take it again.
	Drain(ctx context.Context, name string, on bool) error
	// Forget forgets a node that is gone, and Remove also removes its replicas.
	Forget(ctx context.Context, name string) error
	Remove(ctx context.Context, name string) error
}

// Known is what a node knows of all.
type Known struct {
	Engine  Engine
	Here    string // the node that was asked
	Last    ledger.Position
	Trouble string // why the record cannot be reached; empty: it can
	Members []frontend.Seen
	Listens time.Duration   // for how long it has listened to the others
	Groups  []replica.Group // of the nodes, or of the servers of NATS; the first is that of all nodes
}

// Cluster is the use cases. Its methods are safe for many goroutines.
type Cluster struct {
	servers Servers
	access  *access.Log
}

// New returns the use cases. Without servers, all calls are refused.
func New(s Servers, log *access.Log) *Cluster { return &Cluster{s, log} }

// may refuses callers that may not: those of other workspaces, and those without a permission.
func (cl *Cluster) may(ctx context.Context, c caller.Caller, p identity.Permission, verb, name string) error {
	err := c.May(p, "do this with the servers of a record: "+verb)
	if err == nil && c.Workspace != identity.DefaultWorkspace {
		err = refusal.New(refusal.NotPermitted, "use a token of the workspace "+identity.DefaultWorkspace, "the servers of a record are a matter of the workspace %s", identity.DefaultWorkspace)
	}
	if err != nil {
		return cl.access.Refused(ctx, c.Workspace, c.Actor(), verb, name, err)
	}
	if cl.servers == nil {
		return refusal.New(refusal.Conflict, "ask the operator of the server", "this server does not tell of itself")
	}
	return nil
}

// order records what an administrator has a node do, before it does it.
func (cl *Cluster) order(ctx context.Context, c caller.Caller, verb, name string) error {
	return cl.access.Append(ctx, c.Workspace, c.Actor(), access.NodeOrdered{Verb: verb, Node: name})
}

// find returns a node, or refuses (not_found).
func (s Status) find(name string) (Node, error) {
	for _, n := range s.Nodes {
		if n.Name == name {
			return n, nil
		}
	}
	return Node{}, refusal.New(refusal.NotFound, "[list the nodes](cluster status)", "there is no node %.80q", name)
}
