package otelapi

import (
	"context"
	"os"
	"strconv"
	"strings"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/span"
)

// The variables of the sampler.
const (
	samplerVariable = "OTEL_TRACES_SAMPLER"
	ratioVariable   = "OTEL_TRACES_SAMPLER_ARG"
)

// defaultSampler takes every trace, unless its parent was not sampled.
var defaultSampler = sdk.ParentBased(sdk.AlwaysSample()).Description()

// samplerOf returns the sampler that the environment names; the default is parentbased_always_on. Another is refused (invalid).
func samplerOf() (sdk.Sampler, error) {
	ratio := 1.0
	if v := strings.TrimSpace(os.Getenv(ratioVariable)); v != "" {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= 0 && n <= 1) {
			return nil, refusal.New(refusal.Invalid, "set it to a number from 0 to 1", "the environment variable %s is %.40q", ratioVariable, v)
		}
		ratio = n
	}
	switch name := strings.ToLower(strings.TrimSpace(os.Getenv(samplerVariable))); name {
	case "", "parentbased_always_on":
		return sdk.ParentBased(sdk.AlwaysSample()), nil
	case "parentbased_always_off":
		return sdk.ParentBased(sdk.NeverSample()), nil
	case "parentbased_traceidratio":
		return sdk.ParentBased(sdk.TraceIDRatioBased(ratio)), nil
	case "always_on":
		return sdk.AlwaysSample(), nil
	case "always_off":
		return sdk.NeverSample(), nil
	case "traceidratio":
		return sdk.TraceIDRatioBased(ratio), nil
	default:
		return nil, refusal.New(refusal.Invalid, "use always_on, always_off, traceidratio, or one of these after parentbased_",
			"the environment variable %s is %.40q, which is not supported", samplerVariable, name)
	}
}

// takes reports whether the sampler takes a span in a trace, below a parent; without a parent, it begins the trace.
func (t *Traces) takes(trace span.TraceID, parent span.ID, parentSampled bool, name string) bool {
	if t.follows { // what the SDK decides too, at a multiple of the cost
		return parentSampled || parent == (span.ID{})
	}
	ctx := context.Background()
	if parent != (span.ID{}) {
		ctx = api.ContextWithRemoteSpanContext(ctx, api.NewSpanContext(api.SpanContextConfig{
			TraceID: api.TraceID(trace), SpanID: api.SpanID(parent), TraceFlags: api.TraceFlags(0).WithSampled(parentSampled), Remote: true,
		}))
	}
	return t.sampler.ShouldSample(sdk.SamplingParameters{ParentContext: ctx, TraceID: api.TraceID(trace), Name: name}).Decision == sdk.RecordAndSample
}
