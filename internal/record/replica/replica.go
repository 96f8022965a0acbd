package replica

import (
	"context"
	"slices"
	"time"
)

// Fewest is the number of replicas of a record, and so of servers, below which one that is lost could take acknowledged entries with it.
const Fewest = 3

// Peer is one replica of a group, as the leader of the group sees it.
type Peer struct {
	Name    string // of its server; the id, if no server that runs has heard of it
	ID      string // of its server; empty: the one that was asked
	Current bool   // it has what the leader has
	Lag     uint64 // operations that it lacks
	Silent  time.Duration
}

// Group is the replicas of one thing.
type Group struct {
	Name   string
	Leader string // name of a server; empty: there is none, and the group does nothing
	Peers  []Peer // with the leader
}

// Cluster is servers that keep the replicas of a record.
type Cluster interface {
	// Node is the name of the server in this process; empty: the servers are elsewhere.
	Node() string
	// Groups returns all groups. Error: what is missing for that, such as a majority.
	Groups(ctx context.Context) ([]Group, error)
	// Yield lets others have what the server in this process leads.
	Yield(ctx context.Context) error
	// Remove removes a server for good, which must be gone: others get its replicas.
	Remove(ctx context.Context, name string) error
}

// Majority is the number of replicas that a group needs.
func (g Group) Majority() int { return len(g.Peers)/2 + 1 }

// Has reports whether a server has a replica.
func (g Group) Has(server string) bool {
	return slices.ContainsFunc(g.Peers, func(p Peer) bool { return p.Name == server })
}

// Without returns the number of current replicas that would be left without those of some servers.
func (g Group) Without(servers ...string) (left int) {
	for _, p := range g.Peers {
		if p.Current && !slices.Contains(servers, p.Name) {
			left++
		}
	}
	return left
}

// Lacking lists the replicas that are not current, by the names of their servers.
func (g Group) Lacking() (names []string) {
	for _, p := range g.Peers {
		if !p.Current {
			names = append(names, p.Name)
		}
	}
	return names
}
