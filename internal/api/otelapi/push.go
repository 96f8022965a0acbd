package otelapi

import (
	"context"
	"errors"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// lastPush is how long the last export may take when the server stops.
const lastPush = 3 * time.Second

// Configured reports whether the environment names a collector of OpenTelemetry for metrics. An environment that asks for a protocol
// that the server does not have is refused (invalid).
func Configured() (bool, error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") == "" ||
		os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_METRICS_EXPORTER") == "none" {
		return false, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch v := os.Getenv(name); v {
		case "":
			continue
		case "http/protobuf":
			return true, nil
		default:
			return false, refusal.New(refusal.Invalid, "set it to http/protobuf, and use the collector's port for HTTP, usually 4318",
				"the environment variable %s is %.40q, which is not supported for metrics", name, v)
		}
	}
	return true, nil
}

// Push sends the figures of all workspaces to the collector that the environment names, until ctx ends, and once more then.
// The interval and all else follow the OTEL_EXPORTER_OTLP_* variables. Failures are logged.
func (m *Metrics) Push(ctx context.Context) error {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { m.o.Log.Warn("the figures could not be sent", "error", err) }))
	to, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return err
	}
	reader := sdk.NewPeriodicReader(to, sdk.WithProducer(&producer{m, nil}))
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(m.resource()))
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastPush)
	defer cancel()
	return errors.Join(provider.Shutdown(last), ctx.Err())
}

// resource names the server to collectors, as the environment says.
func (m *Metrics) resource() *resource.Resource {
	own := resource.NewSchemaless(attribute.String("service.name", "trapeze"), attribute.String("service.version", m.o.Version))
	merged, err := resource.Merge(own, resource.Environment())
	if err != nil {
		return own
	}
	return merged
}
