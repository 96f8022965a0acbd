package server

import (
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/server/fleet"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// serverName is the file of a data directory that keeps the name of its server.
const serverName = "server.name"

// openFleet makes what this server knows of the others. The record is open.
func (s *Server) openFleet() (err error) {
	c := s.config
	intact := positions.New(s.log, s.views.Store(), s.tree.Err)
	o := fleet.Options{
		Name: "this server", Version: c.Version, URL: s.URL, Log: c.Log, Ledger: s.log, Viewed: s.views.Position, Trouble: intact.Err, Gate: s.gate,
	}
	if s.shared != nil {
		o.Front, o.Replicas = s.shared.FrontEnd, sharedrecord.Cluster(s.shared.record)
		if o.Name, err = fleet.Name(o.Replicas, filepath.Join(c.DataDir, serverName), writeFile); err != nil {
			return err
		}
	}
	s.fleet = fleet.New(o)
	return nil
}
