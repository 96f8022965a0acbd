package otelapi

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/trapezehq/trapeze/internal/record/span/outage"
)

// lastPush is how long the last export may take when the server stops.
const lastPush = 3 * time.Second

// handleErrors logs what the SDK reports.
func handleErrors(o Options) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Log.Warn("figures or traces could not be sent to the collector", "error", err) }))
}

// Push sends the figures of all workspaces to the collector that the environment names, until ctx ends, and once more then.
// The interval and all else follow the OTEL_EXPORTER_OTLP_* variables. Failures are logged.
func (m *Metrics) Push(ctx context.Context) error {
	handleErrors(m.o)
	to, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(collectorURL("METRICS", "v1/metrics")))
	if err != nil {
		return err
	}
	report := outage.New(m.o.Log, "figures could not be sent to the collector", "figures are sent to the collector again")
	reader := sdk.NewPeriodicReader(reported{to, report}, sdk.WithProducer(&producer{m, nil}))
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(resourceOf(m.o)))
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastPush)
	defer cancel()
	return errors.Join(provider.Shutdown(last), ctx.Err())
}

// reported is an exporter that reports failures itself, to log each outage and its end.
type reported struct {
	sdk.Exporter
	report *outage.Report
}

// Export implements [sdk.Exporter]. The next export has what this one could not send: the figures are sums.
func (r reported) Export(ctx context.Context, figures *metricdata.ResourceMetrics) error {
	if err := r.Exporter.Export(ctx, figures); err != nil {
		r.report.Failed(err, 0)
		return nil
	}
	r.report.Sent()
	return nil
}

// resourceOf names the server to collectors, as the environment says.
func resourceOf(o Options) *resource.Resource {
	service := "trapeze"
	if o.Stdio {
		service = "trapeze-mcp"
	}
	own := resource.NewSchemaless(attribute.String("service.name", service), attribute.String("service.version", o.Version))
	merged, err := resource.Merge(own, resource.Environment())
	if err != nil {
		return own
	}
	return merged
}
