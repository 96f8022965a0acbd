package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/usecase/alerts"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// alertsQuery selects alerts.
type alertsQuery struct {
	endpoint.Reading
	Severity alert.Severity     `query:"severity" doc:"Only alerts that are at least as severe."`
	Past     bool               `query:"past" doc:"Include the last 50 that recovered."`
	Wait     string             `query:"wait" maxLength:"20" doc:"How long to wait until there is an alert or, with since, until something changes, such as 30s; at most 55s." example:"30s"`
	Since    positions.Position `query:"since" doc:"The position of an earlier list: the call waits for a later one."`
}

// alertQuery selects one alert.
type alertQuery struct {
	endpoint.Reading
	ID string `path:"id" maxLength:"100" doc:"Id of the alert: its name and, of one of an agent, a colon and the agent."`
}

// alerts adds the routes of alerts.
func (s *service) alerts() {
	a := s.app.Alerts
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/alerts", ID: "list-alerts", Summary: "List the alerts that are raised, and the silences", Tag: endpoint.TagAlerts,
		About: "Each says what is wrong, since when, which handoffs are behind it, and what to do. For operators and auditors.",
	}, func(ctx context.Context, c caller.Caller, in *alertsQuery) (alerts.List, error) {
		return patiently(ctx, s, in.Wait, func(ctx context.Context, wait time.Duration) (alerts.List, error) {
			return a.List(ctx, c, alerts.ListInput{Severity: in.Severity, Past: in.Past, Wait: wait, Since: in.Since})
		})
	})
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/alerts/{id}", ID: "show-alert", Summary: "Show an alert", Tag: endpoint.TagAlerts,
		About: "As it is raised, was raised lately, or is defined: with the threshold in force. For operators and auditors.",
	}, func(ctx context.Context, c caller.Caller, in *alertQuery) (alerts.Alert, error) {
		return a.Show(ctx, c, in.ID)
	})
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/alerts/silences", ID: "silence-alert", Summary: "Silence an alert for a time", Tag: endpoint.TagAlerts, Status: http.StatusCreated,
		About: "People are not notified of it until the silence ends, by itself or by a call. The alert is recorded all the same. For operators.",
	}, a.Silence)
	endpoint.Act(s.router, endpoint.Route{
		Method: http.MethodDelete, Path: "/v1/alerts/silences/{id}", ID: "end-silence", Summary: "End a silence", Tag: endpoint.TagAlerts,
		About: "People are notified of the alerts that it covered and that are still raised. Returns the alerts. For operators.",
	}, a.EndSilence)
}
