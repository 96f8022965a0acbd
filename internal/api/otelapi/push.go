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

// Configured reports whether the environment names a collector of OpenTelemetry for metrics. An environment that asks for an exporter or a
// protocol that the server does not have is refused (invalid).
func Configured() (bool, error) { return configured("metrics", "METRICS") }

// configured reports whether the environment names a collector for a signal.
func configured(signal, variable string) (bool, error) {
	exporter := os.Getenv("OTEL_" + variable + "_EXPORTER")
	named := os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+variable+"_ENDPOINT") != ""
	switch {
	case os.Getenv("OTEL_SDK_DISABLED") == "true" || exporter == "none" || exporter == "" && !named,
		signal == "metrics" && exporter == "prometheus": // /metrics is always there
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, refusal.New(refusal.Invalid, "set it to otlp or none", "the environment variable OTEL_%s_EXPORTER is %.40q, which is not supported", variable, exporter)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + variable + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch v := os.Getenv(name); v {
		case "":
			continue
		case "http/protobuf":
			return true, nil
		default:
			return false, refusal.New(refusal.Invalid, "set it to http/protobuf, and use the collector's port for HTTP, usually 4318",
				"the environment variable %s is %.40q, which is not supported for %s", name, v, signal)
		}
	}
	return true, nil
}

// handleErrors logs what the SDK reports.
func handleErrors(o Options) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Log.Warn("figures or traces could not be sent to the collector", "error", err) }))
}

// Push sends the figures of all workspaces to the collector that the environment names, until ctx ends, and once more then.
// The interval and all else follow the OTEL_EXPORTER_OTLP_* variables. Failures are logged.
func (m *Metrics) Push(ctx context.Context) error {
	handleErrors(m.o)
	to, err := otlpmetrichttp.New(ctx)
	if err != nil {
		return err
	}
	reader := sdk.NewPeriodicReader(to, sdk.WithProducer(&producer{m, nil}))
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(resourceOf(m.o)))
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastPush)
	defer cancel()
	return errors.Join(provider.Shutdown(last), ctx.Err())
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
