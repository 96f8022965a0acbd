package admin

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/client"
)

// NodeState is what a server does that shares a record with others.
type NodeState string

// The states of servers.
const (
	NodeReady    NodeState = "ready"     // it takes work
	NodeDrained  NodeState = "drained"   // it takes no new work, and may be about to be stopped
	NodeNotReady NodeState = "not-ready" // it runs, and cannot do its work
	NodeUnknown  NodeState = "unknown"   // the server that is asked has not listened for long enough to tell
	NodeSilent   NodeState = "silent"    // it is not heard of
)

// NodeStates are all of them.
func NodeStates() []NodeState {
	return []NodeState{NodeReady, NodeDrained, NodeNotReady, NodeUnknown, NodeSilent}
}

// Engine is what keeps a record.
type Engine string

// The engines.
const (
	EngineDirectory  Engine = "directory"  // the data directory of its only server
	EnginePostgreSQL Engine = "postgresql" // a database
	EngineNATS       Engine = "nats"       // a NATS cluster that others run
	EngineNodes      Engine = "nodes"      // the servers themselves, each a node of a NATS cluster
)

// Engines are all of them.
func Engines() []Engine { return []Engine{EngineDirectory, EnginePostgreSQL, EngineNATS, EngineNodes} }

// Cluster is the servers of a record, and whether they can do without one.
type Cluster struct {
	Engine   Engine         `json:"engine"`
	Asked    string         `json:"asked"`             // the node that answers: the others are as it knows them
	Position uint64         `json:"position"`          // newest entry; 0 if the record cannot be reached
	Trouble  string         `json:"trouble,omitempty"` // why it cannot be reached, or where its replicas are is not known
	Nodes    []Node         `json:"nodes"`             // by name
	Groups   []ReplicaGroup `json:"groups"`            // in NATS JetStream
}

// Node is one server.
type Node struct {
	Name      string          `json:"name"`
	URL       string          `json:"url,omitempty"`
	Version   string          `json:"version,omitempty"`
	State     NodeState       `json:"state"`
	Why       string          `json:"why,omitempty"` // it is not ready
	Heard     client.Duration `json:"heard"`         // how long ago; without a URL, never
	Position  uint64          `json:"position"`      // its lists have everything up to there
	Behind    uint64          `json:"behind"`        // entries that its lists lack
	BehindFor client.Duration `json:"behind_for"`    // age of the oldest of them
	Turn      bool            `json:"turn"`          // it does what one node must do alone
	Leads     []string        `json:"leads"`         // groups of replicas
	Lacks     []string        `json:"lacks"`         // groups of which it lacks something
	Stop      NodeStop        `json:"stop"`
}

// NodeStop says whether a server can be stopped now.
type NodeStop struct {
	Safe bool   `json:"safe"`         // the others go on without it
	Why  string `json:"why"`          // it is safe, or not
	Do   string `json:"do,omitempty"` // first
}

// ReplicaGroup is so many replicas of one thing, which goes on while a majority of them is there.
type ReplicaGroup struct {
	Name     string   `json:"name"`
	Leader   string   `json:"leader,omitempty"` // empty: there is none, and the group does nothing
	Replicas []string `json:"replicas"`         // servers
	Lacking  []string `json:"lacking"`          // those that are not there, or lack something
	Majority int      `json:"majority"`
}

// ShowCluster shows the servers of the record, as one of them knows them. It is for operators and admins of the workspace default; the changes are for admins.
func (c Client) ShowCluster(ctx context.Context) (Cluster, error) {
	return call[Cluster](ctx, c, http.MethodGet, nil, nil, "cluster")
}

// DrainNode has a server take no new work, so that it can be stopped. It returns when that has happened.
func (c Client) DrainNode(ctx context.Context, name string) (Cluster, error) {
	return call[Cluster](ctx, c, http.MethodPost, nil, nil, "cluster", "nodes", name, "drain")
}

// ResumeNode has a server that was drained take work again.
func (c Client) ResumeNode(ctx context.Context, name string) (Cluster, error) {
	return call[Cluster](ctx, c, http.MethodPost, nil, nil, "cluster", "nodes", name, "resume")
}

// RemoveNode removes a server that is gone for good. Its replicas are made again on others.
func (c Client) RemoveNode(ctx context.Context, name string) (Cluster, error) {
	return call[Cluster](ctx, c, http.MethodPost, nil, nil, "cluster", "nodes", name, "remove")
}
