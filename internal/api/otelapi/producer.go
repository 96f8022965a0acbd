package otelapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

// scope is the name of the scope of instrumentation.
const scope = "github.com/trapezehq/trapeze"

// producer gives the figures to a reader of OpenTelemetry.
type producer struct {
	*Metrics
	workspace *string // nil: all workspaces
}

// Produce implements the Producer of OpenTelemetry. It fails only with its context: figures that cannot be had are missing.
func (p *producer) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	points, err := p.source.Points(ctx)
	if err != nil {
		p.o.Log.WarnContext(ctx, "some figures are missing", "error", err)
	}
	out := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: scope, Version: p.o.Version}}
	now := time.Now()
	for len(points) > 0 {
		i := points[0].Instrument
		n := 1
		for n < len(points) && points[n].Instrument == i {
			n++
		}
		if data := p.aggregate(i, p.visible(points[:n]), now); data != nil {
			out.Metrics = append(out.Metrics, metricdata.Metrics{Name: i.Name, Description: i.Meaning, Unit: i.Unit, Data: data})
		}
		points = points[n:]
	}
	return []metricdata.ScopeMetrics{out}, ctx.Err()
}

// visible returns those of the points of an instrument that the reader may have.
func (p *producer) visible(points []figure.Point) []figure.Point {
	labels := points[0].Instrument.Labels
	switch of := len(labels) > 0 && labels[0] == "workspace"; {
	case p.workspace == nil:
		return points
	case of: // they are in the order of workspaces
		from, _ := slices.BinarySearchFunc(points, *p.workspace, byWorkspace)
		to, _ := slices.BinarySearchFunc(points, *p.workspace+"\x00", byWorkspace)
		return points[from:to]
	case p.o.Process == "" || p.o.Process == *p.workspace:
		return points
	default:
		return nil
	}
}

func byWorkspace(p figure.Point, workspace string) int {
	return strings.Compare(p.Values[0], workspace)
}

// aggregate returns the data of one instrument, nil if there is none.
func (p *producer) aggregate(i *figure.Instrument, points []figure.Point, now time.Time) metricdata.Aggregation {
	if len(points) == 0 {
		return nil
	}
	if i.Type == figure.Histogram {
		list := make([]metricdata.HistogramDataPoint[float64], len(points))
		for j := range points {
			d := points[j].Spread
			list[j] = metricdata.HistogramDataPoint[float64]{
				Attributes: attributes(&points[j]), StartTime: p.start(&points[j], now), Time: now, Count: d.Count, Sum: d.Sum, Bounds: i.Bounds, BucketCounts: d.Counts,
			}
		}
		return metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality, DataPoints: list}
	}
	list := make([]metricdata.DataPoint[float64], len(points))
	for j := range points {
		list[j] = metricdata.DataPoint[float64]{Attributes: attributes(&points[j]), StartTime: p.start(&points[j], now), Time: now, Value: points[j].Value}
	}
	if i.Type == figure.Counter {
		return metricdata.Sum[float64]{Temporality: metricdata.CumulativeTemporality, IsMonotonic: true, DataPoints: list}
	}
	return metricdata.Gauge[float64]{DataPoints: list}
}

// start is the time since which a point counts. To a collector, a later one than before is a reset: what was counted before is then taken for new.
func (p *producer) start(of *figure.Point, now time.Time) time.Time {
	if of.Start.IsZero() || of.Start.After(now) { // the clock was set back
		return p.o.Start
	}
	return of.Start
}

func attributes(p *figure.Point) attribute.Set {
	list := make([]attribute.KeyValue, len(p.Instrument.Labels))
	for i, name := range p.Instrument.Labels {
		list[i] = attribute.String(name, p.Values[i])
	}
	return attribute.NewSet(list...)
}
