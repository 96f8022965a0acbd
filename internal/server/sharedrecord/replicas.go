package sharedrecord

import (
	"context"
	"errors"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/replica"
)

// Cluster returns the servers that keep the replicas of a record; nil: it is in a database, which knows of its own.
func Cluster(r Record) replica.Cluster {
	c, _ := r.(replica.Cluster) // nil if it is not
	return c
}

// Node implements [replica.Cluster].
func (r *natsRecord) Node() string {
	if r.node == nil {
		return ""
	}
	return r.node.Name()
}

// Groups implements [replica.Cluster].
func (r *natsRecord) Groups(ctx context.Context) ([]replica.Group, error) {
	var list []replica.Group
	if r.node != nil {
		nodes, err := r.node.Nodes(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, nodes)
	}
	streams, err := r.streams(ctx)
	return append(list, streams...), err
}

// streams returns the groups of the record, and of what is kept beside it.
func (r *natsRecord) streams(ctx context.Context) ([]replica.Group, error) {
	name := r.log.Name()
	return natslog.Groups(ctx, r.conn, name, "KV_"+name+"_SHARED", "KV_"+name+"_ARTIFACTS", name+"_FILES")
}

// Yield implements [replica.Cluster].
func (r *natsRecord) Yield(ctx context.Context) error {
	if r.node == nil {
		return nil
	}
	streams, err := r.streams(ctx)
	return errors.Join(err, natslog.Yield(ctx, r.conn, r.node.Name(), streams), r.node.Yield(ctx))
}

// Remove implements [replica.Cluster].
func (r *natsRecord) Remove(ctx context.Context, name string) error {
	if r.node == nil {
		return refusal.New(refusal.Conflict, "change them with the tools of NATS", "the servers of NATS are not of Trapeze")
	}
	return r.node.Remove(ctx, name)
}
