package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/server"
)

// purpose is what a record is opened for.
type purpose bool

const (
	toUse  purpose = false
	toFill purpose = true // by a restore
)

// waitsFor is what is logged while a node waits for its record, for a reason that passes.
func waitsFor(to purpose, cause error) string {
	switch {
	case errors.Is(cause, natsnode.ErrFilling):
		return "waiting until trapeze restore has ended, which fills the record; calls are answered then"
	case to == toFill:
		return "waiting for the other nodes of the cluster: start all of them with trapeze serve, with empty data directories and the same --cluster-name and --join"
	}
	return "waiting for the other nodes of the cluster: start them, with the same --cluster-name and --join, all of them when the cluster starts for the first time, a majority later; calls are answered when they are there"
}

// placeOf gives the server the node that the command line describes.
func placeOf(p cli.Place, log *slog.Logger, to purpose) server.Place {
	place := server.Place{Postgres: p.Postgres, NATS: server.NATS{URL: p.NATS.URL, Credentials: p.NATS.Credentials, CA: p.NATS.CA, Monitors: p.NATS.Monitors}}
	if n := p.Node; n.Cluster != "" {
		place.NATS.Waiting = func(hears string, cause error) {
			log.Info(waitsFor(to, cause), "hears", hears, "cause", cause)
		}
		place.NATS.Start = func(_ context.Context, dir string) (server.Node, error) {
			return natsnode.Start(natsnode.Options{
				Cluster: n.Cluster, Name: n.Name, Dir: dir, Addr: n.Addr, Join: n.Join, Secret: n.Secret, Cert: n.Cert, Key: n.Key, CA: n.CA, Log: log,
			})
		}
	}
	return place
}
