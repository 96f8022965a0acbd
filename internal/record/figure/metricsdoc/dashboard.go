package main

import (
	"encoding/json"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

// Sizes of panels in Grafana's grid, which has 24 columns.
const (
	panelWidth  = 8
	panelHeight = 8
	columns     = 24 / panelWidth
)

// dashboard is the dashboard as Grafana imports it.
func dashboard() string {
	source := map[string]any{"type": "prometheus", "uid": "${source}"}
	var list []any
	for n, p := range panels() {
		var targets []any
		for i, legend := range slices.Sorted(maps.Keys(p.exprs)) {
			targets = append(targets, map[string]any{"refId": string(rune('A' + i)), "expr": p.exprs[legend], "legendFormat": legend, "datasource": source})
		}
		list = append(list, map[string]any{
			"id": n + 1, "title": p.title, "description": p.behind(), "type": "timeseries", "datasource": source, "targets": targets,
			"gridPos":     map[string]any{"x": n % columns * panelWidth, "y": n / columns * panelHeight, "w": panelWidth, "h": panelHeight},
			"fieldConfig": map[string]any{"defaults": map[string]any{"unit": p.unit, "min": 0}, "overrides": []any{}},
		})
	}
	doc := map[string]any{
		"title": "Trapeze", "uid": "trapeze", "description": "Written by go generate ./internal/record/figure. Do not edit.", "schemaVersion": 39, "version": 1,
		"editable": true, "refresh": "30s", "time": map[string]any{"from": "now-6h", "to": "now"}, "tags": []string{"trapeze"}, "panels": list,
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"},
			map[string]any{
				"name": "workspace", "label": "Workspace", "type": "query", "datasource": source, "query": "label_values(" + figure.TasksCreated.Prometheus() + ", workspace)",
				"refresh": 2, "includeAll": true, "multi": true, "allValue": ".*", "current": map[string]any{"text": "All", "value": "$__all"},
			},
		}},
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		log.Fatal(err)
	}
	return b.String()
}
