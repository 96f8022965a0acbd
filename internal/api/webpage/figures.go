package webpage

import (
	"net/http"
	"slices"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/chart"
)

// figurePage is the handoffs that ended in a span, by what they have in common, and in time.
type figurePage struct {
	Span   string
	Spans  []string
	All    admin.StatsGroup
	Tables []figureTable
	Charts []chart.Line
	Series []admin.StatsBucket
	Early  bool // the record is still being counted
}

// figureTable is the handoffs of each agent, kind or reason.
type figureTable struct {
	By     string
	Groups []admin.StatsGroup
}

func (v *visit) figurePage(w http.ResponseWriter, r *http.Request) error {
	body := figurePage{Span: r.URL.Query().Get("span"), Spans: admin.StatsSpans()}
	if body.Span == "" {
		body.Span = "1h"
	}
	if !slices.Contains(body.Spans, body.Span) {
		return &client.Error{Status: http.StatusBadRequest, Code: client.Invalid, Message: "there are figures of 5m, 1h and 24h", Hint: "go to the figures of the last hour: /figures"}
	}
	var about []string
	for _, by := range admin.StatsBys() {
		s, err := v.admin.Stats(r.Context(), admin.StatsOptions{Span: body.Span, By: by})
		if early(err) {
			body.Early = true
			break
		}
		if err != nil {
			return err
		}
		body.All, body.Series, body.Charts = s.All, s.Series, chart.Of(s)
		body.Tables = append(body.Tables, figureTable{by, s.Groups})
		for _, g := range append(s.Groups, s.All) {
			about = slices.Concat(about, g.Slowest, g.Failures, g.Losses, g.Retried, g.Farthest, g.Largest, g.Incomplete)
		}
	}
	return v.show(w, r, "figures", page{Title: "Figures", Live: everything, About: about, Body: body})
}
