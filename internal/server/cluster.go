package server

import (
	"os"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/server/cluster"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// serverName is the file of a data directory that keeps the name of its server.
const serverName = "server.name"

// openCluster makes what this server knows of the others. The record is open.
func (s *Server) openCluster() (err error) {
	c := s.config
	machine, _ := os.Hostname() // it may have none
	intact := positions.New(s.log, s.views.Store(), s.tree.Err)
	o := cluster.Options{
		Name: "this server", Version: c.Version, URL: func() string { return s.outside(machine) }, Log: c.Log, Ledger: s.log, Viewed: s.views.Position, Trouble: intact.Err, Gate: s.gate,
	}
	if s.shared != nil {
		o.Front, o.Replicas = s.shared.FrontEnd, sharedrecord.Cluster(s.shared.record)
		if o.Name, err = cluster.Name(o.Replicas, filepath.Join(c.DataDir, serverName), writeFile); err != nil {
			return err
		}
	}
	s.cluster = cluster.New(o)
	return nil
}
