package main

import (
	"context"
	"log/slog"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natsnode"
	"github.com/trapezehq/trapeze/internal/server"
)

// placeOf gives the server the node that the command line describes.
func placeOf(p cli.Place, log *slog.Logger) server.Place {
	place := server.Place{Postgres: p.Postgres, NATS: server.NATS{URL: p.NATS.URL, Credentials: p.NATS.Credentials, CA: p.NATS.CA, Monitors: p.NATS.Monitors}}
	if n := p.Node; n.Cluster != "" {
		place.NATS.Waiting = func(hears string, cause error) {
			log.Info("waiting for a majority of the nodes of the cluster: start the others, with the same --cluster-name and --join; calls are answered when it is there", "hears", hears, "cause", cause)
		}
		place.NATS.Start = func(_ context.Context, dir string) (server.Node, error) {
			return natsnode.Start(natsnode.Options{
				Cluster: n.Cluster, Name: n.Name, Dir: dir, Addr: n.Addr, Join: n.Join, Secret: n.Secret, Cert: n.Cert, Key: n.Key, CA: n.CA, Log: log,
			})
		}
	}
	return place
}
