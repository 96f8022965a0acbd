package monitor

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

// archived returns the workspaces that are archived.
func (m *Monitor) archived(ctx context.Context) (map[string]bool, error) {
	made, err := m.views.MadeWorkspaces(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for i := range made {
		if !made[i].ArchivedAt.IsZero() {
			names[made[i].Name] = true
		}
	}
	return names, nil
}

// present leaves out what waits in workspaces that are archived: nobody can do anything about it. What was counted stays.
func (m *Monitor) present(ctx context.Context, list []figure.Point) ([]figure.Point, error) {
	archived, err := m.archived(ctx)
	if len(archived) == 0 {
		return list, err
	}
	return slices.DeleteFunc(list, func(p figure.Point) bool { return p.Instrument.Type == figure.Gauge && archived[p.Label("workspace")] }), err
}
