//go:build slow

package otelapi_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/otelapi"
)

func TestVariablesThatHaveNoEffectAreNamed(t *testing.T) {
	const collector = "http://127.0.0.1:4318"
	for _, c := range []struct {
		name  string
		env   map[string]string
		names []string // of one hint
		hint  string
	}{
		{"none", nil, nil, ""},
		{"all in use", map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=b", "OTEL_TRACES_SAMPLER": "always_on", "OTEL_METRIC_EXPORT_INTERVAL": "5000",
			"OTEL_SERVICE_NAME": "handoffs", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		}, nil, ""},
		{
			"the log",
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_LOGS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": collector, "OTEL_BLRP_SCHEDULE_DELAY": "1"},
			[]string{"OTEL_BLRP_SCHEDULE_DELAY", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_LOGS_EXPORTER"},
			"standard error",
		},
		{"no log on purpose", map[string]string{"OTEL_LOGS_EXPORTER": "none"}, nil, ""},
		{"gRPC without a collector", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_TRACES_SAMPLER": "always_on"}, []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_TRACES_SAMPLER"}, "set OTEL_EXPORTER_OTLP_ENDPOINT"},
		{"off on purpose", map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_EXPORTER_OTLP_HEADERS": "a=b"}, nil, ""},
		{"deltas", map[string]string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"}, []string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"}, "cumulative"},
		{"sums", map[string]string{"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "cumulative", "OTEL_PROPAGATORS": "tracecontext,baggage"}, nil, ""},
		{"without TLS", map[string]string{"OTEL_EXPORTER_OTLP_INSECURE": "true"}, []string{"OTEL_EXPORTER_OTLP_INSECURE"}, "http://"},
		{"propagators", map[string]string{"OTEL_PROPAGATORS": "b3"}, []string{"OTEL_PROPAGATORS"}, "tracecontext"},
		{"what nobody knows", map[string]string{"OTEL_SPAN_EVENT_COUNT_LIMIT": "1", "OTEL_METRIC_EXPORT_INTERVALL": "5000"}, []string{"OTEL_METRIC_EXPORT_INTERVALL", "OTEL_SPAN_EVENT_COUNT_LIMIT"}, "docs/metrics.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			setEnvironment(t, c.env)
			list := otelapi.FindUnused()
			if c.names == nil {
				if list != nil {
					t.Errorf("%+v", list)
				}
				return
			}
			if len(list) != 1 || !reflect.DeepEqual(list[0].Names, c.names) || !strings.Contains(list[0].Hint, c.hint) {
				t.Errorf("%+v, want %v", list, c.names)
			}
		})
	}
}
