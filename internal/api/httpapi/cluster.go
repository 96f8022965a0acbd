package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/cluster"
)

// clusterPath is where the servers of the record are shown.
const clusterPath = "/v1/cluster"

// cluster adds the routes about the servers that share the record.
func (s *service) cluster() {
	one := func(verb, id, summary, about string) endpoint.Route {
		return endpoint.Route{
			Method: http.MethodPost, Path: "/v1/cluster/nodes/{id}/" + verb, ID: id, Summary: summary, About: about + " For admins of the workspace default.", Tag: endpoint.TagCluster,
		}
	}
	endpoint.Serve(s.router, endpoint.Route{
		Method: http.MethodGet, Path: clusterPath, ID: "show-cluster", Summary: "Show the servers of the record, and which of them can be stopped", Tag: endpoint.TagCluster,
		About: "What cannot be known, since others are gone, is named as such. Where the record itself does not answer, a token that the server knows from before counts for this call. For operators and admins of the workspace default.",
	}, func(ctx context.Context, c caller.Caller, _ *struct{}) (cluster.Status, error) {
		return s.app.Cluster.Show(ctx, c)
	})
	endpoint.Act(s.router, one("drain", "drain-node", "Have a server take no new work, so that it can be stopped",
		"It is not ready any more, answers calls that wait, ends event streams, and leads nothing; other calls are served. It takes work again when it is told so, or started again. The answer comes when it has happened."),
		s.app.Cluster.Drain)
	endpoint.Act(s.router, one("resume", "resume-node", "Have a server that was drained take work again", "The answer comes when it has happened."), s.app.Cluster.Resume)
	endpoint.Act(s.router, one("remove", "remove-node", "Remove a server that is gone for good",
		"Its replicas are made again on other servers. Refused if it runs, or if too few would be left."), s.app.Cluster.Remove)
}
