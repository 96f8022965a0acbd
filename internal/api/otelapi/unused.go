package otelapi

import (
	"os"
	"slices"
	"strings"
)

// Unused are variables of OpenTelemetry that are set and have no effect, with what to do about them.
type Unused struct {
	Names []string // sorted
	Hint  string
}

// used are variables that have an effect, or are set for every program of a machine.
var used = []string{"OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_METRICS_EXPORTER", "OTEL_TRACES_EXPORTER"}

// sending are variables that have an effect when something is sent, besides those of a collector.
var sending = []string{samplerVariable, ratioVariable, "OTEL_METRIC_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_TIMEOUT", "OTEL_BSP_SCHEDULE_DELAY"}

// unused are the hints about variables by how their names begin; the first that fits counts.
var unused = []struct{ prefix, hint string }{
	{"OTEL_LOGS_", logHint},
	{prefix + "LOGS_", logHint},
	{"OTEL_BLRP_", logHint},
	{prefix + "METRICS_TEMPORALITY_", sumsHint},
	{prefix + "METRICS_DEFAULT_", sumsHint},
	{prefix + "INSECURE", schemeHint},
	{prefix + "METRICS_INSECURE", schemeHint},
	{prefix + "TRACES_INSECURE", schemeHint},
	{"OTEL_PROPAGATORS", "trace context is read and written as W3C has it (tracecontext) alone: have callers send that, and unset it"},
	{"OTEL_", "unset them; docs/metrics.md and docs/traces.md name the variables that are used"},
}

// Hints about several variables.
const (
	// collectorHint is about variables of a collector when there is none.
	collectorHint = "nothing is sent: set OTEL_EXPORTER_OTLP_ENDPOINT to the URL of a collector, such as http://127.0.0.1:4318, or unset them"
	logHint       = "the log is not sent to a collector: collect it from standard error or --log-file, and unset them"
	sumsHint      = "figures are sent as sums since the first entry (cumulative), with their own buckets: have the collector change them, and unset it"
	schemeHint    = "the scheme of the endpoint says it: write http:// or https://, and unset it"
)

// FindUnused lists the variables of the environment that have no effect, those with the same hint together. What is switched off on purpose is not among them.
func FindUnused() (list []Unused) {
	add := func(name, hint string) {
		i := slices.IndexFunc(list, func(u Unused) bool { return u.Hint == hint })
		if i < 0 {
			i, list = len(list), append(list, Unused{Hint: hint})
		}
		list[i].Names = append(list[i].Names, name)
	}
	sends := sendsAny()
	for _, pair := range slices.Sorted(slices.Values(os.Environ())) {
		name, value, _ := strings.Cut(pair, "=")
		switch value = strings.TrimSpace(value); {
		case !strings.HasPrefix(name, "OTEL_") || value == "" || slices.Contains(used, name), offOnPurpose(name, value):
		case aboutCollector(name):
			if !sends {
				add(name, collectorHint)
			}
		default:
			i := slices.IndexFunc(unused, func(u struct{ prefix, hint string }) bool { return strings.HasPrefix(name, u.prefix) })
			add(name, unused[i].hint)
		}
	}
	return list
}

// offOnPurpose reports whether a variable asks for what is done anyway: nothing, or the default.
func offOnPurpose(name, value string) bool {
	switch name {
	case "OTEL_LOGS_EXPORTER":
		return value == "none"
	case "OTEL_PROPAGATORS":
		return value == "tracecontext" || value == "tracecontext,baggage"
	case prefix + "METRICS_TEMPORALITY_PREFERENCE":
		return strings.EqualFold(value, "cumulative")
	}
	return false
}

// sendsAny reports whether anything is sent, or was switched off on purpose.
func sendsAny() bool {
	metrics, err := Configured()
	traces, failed := TracesConfigured()
	off := func(variable string) bool { return os.Getenv(variable) == "none" }
	return metrics || traces || err != nil || failed != nil || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || off("OTEL_METRICS_EXPORTER") || off("OTEL_TRACES_EXPORTER")
}

// aboutCollector reports whether a variable that is read says how figures or traces are sent: without a collector it has no effect.
func aboutCollector(name string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return slices.Contains(sending, name)
	}
	for _, signal := range []string{"METRICS_", "TRACES_"} {
		rest = strings.TrimPrefix(rest, signal)
	}
	for i := range settings {
		if rest == settings[i].name {
			return true
		}
	}
	return rest == "CLIENT_CERTIFICATE" || rest == "CLIENT_KEY"
}
