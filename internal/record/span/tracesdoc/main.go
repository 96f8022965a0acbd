// Program tracesdoc writes docs/traces.md from the names of spans and attributes.
//
// Invariants:
//   - The page has every span and attribute, and a test fails if that in the repository is another.
//
// Start reading at [document].
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/span"
)

// page is the path of the page from the package record/span.
const page = "../../../docs/traces.md"

func main() {
	if err := os.WriteFile(page, []byte(document()), 0o644); err != nil { //nolint:gosec // a page for everybody
		log.Fatal(err)
	}
}

const head = `# Traces

<!-- Written by go generate ./internal/record/span. Do not edit. -->

One trace shows a task from its first agent to its last: each call, and each step of each handoff.

## Switch them on
With ` + "`OTEL_EXPORTER_OTLP_ENDPOINT`" + ` or ` + "`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`" + ` in its environment, or with ` + "`OTEL_TRACES_EXPORTER=otlp`" + `, the server sends spans
to that collector, by OTLP over HTTP with protobuf. The other variables of the standard apply: ` + "`OTEL_TRACES_SAMPLER`" + ` and its argument, headers, timeout,
compression, certificates, ` + "`OTEL_SERVICE_NAME`" + `, ` + "`OTEL_RESOURCE_ATTRIBUTES`" + `, ` + "`OTEL_BSP_SCHEDULE_DELAY`" + `. Without them there are no spans, and they cost nothing. ` + "`OTEL_TRACES_EXPORTER=none`" + `
switches traces off, and leaves [figures](metrics.md) on. The server does not start with a value of these that it cannot use, such as an endpoint without ` + "`http://`" + ` or ` + "`https://`" + `.

    OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 trapeze serve

The same variables in the environment of ` + "`trapeze mcp`" + ` make it send a span for each call of a tool, as the service ` + "`trapeze-mcp`" + `. Its spans are where those of
` + "`/mcp`" + ` would be, with the calls of the HTTP API that the tool makes below them, and spans of the last two seconds are lost if it is killed. Other MCP servers and
programs that need the same send the header ` + "`Trapeze-Span`" + ` with the id of their span in a call about a task, without a ` + "`traceparent`" + `; the answer has the parent of
that span in the header ` + "`Trapeze-Parent`" + `, as a ` + "`traceparent`" + `.

Programs give a call their trace context in the header ` + "`traceparent`" + `, over MCP in ` + "`_meta.traceparent`" + `, and to ` + "`trapeze`" + ` commands in the variable ` + "`TRACEPARENT`" + `. The envelope
of a handoff carries it on, so that the receiver continues the trace. Each service and each agent may send its spans to the collector by itself.

## What they are made from
- **Calls**: each call of the HTTP API or of an MCP tool with a valid credential is a span while the server answers it. If the server is killed, spans of
  the last seconds are lost, and if the collector does not keep up, some are dropped.
- **The record**: the spans of tasks, handoffs and their steps are made from the entries of the record, by a follower that works behind it and
  delays no answer. They are sent at least once: the server keeps in its data directory how far it has come, and goes on there after a restart,
  whatever ended it. The ids of spans are derived from the record, so that a span that is sent twice is the same one. While the collector
  takes none, they wait in the record. What was recorded before traces were first on is not sent.

A span is sent when it has ended: the span of a task that is open is missing, and those of its steps are there.

Spans have ids, names of agents, terms of closed sets, numbers and times. They never have intents, context, results, reasons in words, or tokens.

## Parents
A task's spans are in the trace of the call that created it, and those of its child tasks, too. A task that was recorded without a trace context
has a trace of its own. The parent of a call is the span of the client, if the client sends a trace context. Otherwise, of a call about a task, it is

1. the span of the ownership, if the caller owns the task, or if no handoff is in progress;
2. the span of the handoff in progress;
3. the span of the task.

Other calls begin a trace. If an owner calls within a trace of another origin, the spans of its handoff stay in the trace of the task, and have a
link to the call.

## Spans from the record
`

func document() string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("Each has " + names(span.Common()) + ".\n\n| span | from and until | parent | further attributes |\n|---|---|---|---|\n")
	for _, s := range span.Steps() {
		row(&b, s)
	}
	b.WriteString("\n## Spans of calls\n\n| span | meaning | parent | attributes |\n|---|---|---|---|\n")
	for _, s := range span.Calls() {
		row(&b, s)
	}
	b.WriteString("\n## Attributes\nThose for generative AI and MCP follow OpenTelemetry's semantic conventions, which may still change.\n\n| attribute | type | meaning |\n|---|---|---|\n")
	for _, a := range span.Attributes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.Name, a.Type, a.Meaning)
	}
	return b.String()
}

func row(b *strings.Builder, s *span.Step) {
	fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", s.Name, s.Extent, s.Parent, names(s.Attributes))
}

func names(list []*span.Attribute) string {
	all := make([]string, len(list))
	for i, a := range list {
		all[i] = "`" + a.Name + "`"
	}
	return strings.Join(all, ", ")
}
