package expect

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Options are the bounds of a [Checker]. Zero fields mean the default.
type Options struct {
	// Schemas is the number of compiled schemas that are cached, and CacheBytes the greatest size of their sources
	// together; defaults 128 and 1 MiB.
	Schemas    int
	CacheBytes int
	// Steps is the greatest number of steps for one result; default 500,000: well under a second for ordinary schemas, a
	// few seconds for the worst.
	Steps int
	// Problems is the number of faults that a refusal names; default 10.
	Problems int
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Schemas, 128}, {&o.CacheBytes, 1 << 20}, {&o.Steps, 500_000}, {&o.Problems, 10}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	return o
}

// Checker checks results and caches compiled schemas. It is safe for concurrent use.
type Checker struct {
	options Options
	schemas *cache
}

// New returns a checker.
func New(o Options) *Checker {
	o = o.withDefaults()
	return &Checker{options: o, schemas: newCache(o.Schemas, o.CacheBytes)}
}

// Problem is one fault of a result.
type Problem struct {
	// Path is "text", "data", or a place inside: "data/refund/amount", a JSON Pointer (RFC 6901) after the first word.
	Path string `json:"path"`
	// What is the fault and what was expected.
	What string `json:"what"`
}

// CheckExpected refuses expectations that cannot be checked against any result: a schema that [Checker.CheckSchema]
// refuses, or a schema with a format that is not JSON. It is for the creation of tasks. Absent expectations are valid.
func (c *Checker) CheckExpected(e event.Expected) error {
	if err := e.Check(); err != nil {
		return refusal.In("expected_output", err)
	}
	if len(e.Schema) == 0 {
		return nil
	}
	if f := formatOf(e.Format); f != "" && f != formatJSON {
		return refusal.New(refusal.Invalid, "omit the format or make it json, or omit the schema",
			"expected_output.schema: a JSON Schema does not apply to %.40q", e.Format).With("field", "expected_output.schema")
	}
	return c.CheckSchema(e.Schema)
}

// Check checks r against e. The refusal, with the code invalid, lists the faults in its message and as []Problem under
// "problems" in its details; "more" is the number of faults that it does not list. forReview are the expectations that
// only a reviewer can check.
func (c *Checker) Check(e event.Expected, r event.Result) (forReview []string, err error) {
	forReview = append(forReview, e.Criteria...)
	var found findings
	if n := len(r.Text) + len(r.Data); e.MaxBytes > 0 && n > e.MaxBytes {
		found.add("result", "has %d bytes, at most %d are expected", n, e.MaxBytes)
	}
	format := formatOf(e.Format)
	switch {
	case format == "" && e.Format != "":
		forReview = append(forReview, "The format is "+e.Format+".")
	case format != "":
		format.check(r, &found)
	}
	if len(e.Schema) > 0 && len(found.list) == 0 {
		s, err := c.compiled(e.Schema)
		if err != nil { // the task is older than the check of schemas: its worker cannot fix that
			forReview = append(forReview, "The expected schema could not be applied: "+err.Error())
		} else if err := c.checkSchema(s, r, &found); err != nil {
			return nil, err
		}
	}
	if err := found.refusal(c.options.Problems); err != nil {
		return nil, err
	}
	return forReview, nil
}

// checkSchema applies a schema to the data of the result, or to its text if it has no data.
func (c *Checker) checkSchema(s *schema, r event.Result, found *findings) error {
	where, raw := valueOf(r)
	value, err := decode(raw)
	if err != nil {
		found.add(where, "is not JSON, as the schema requires; give the result as data: %v", err)
		return nil
	}
	return s.apply(where, value, c.options.Steps, found)
}

// valueOf returns the JSON of a result and the name of its field.
func valueOf(r event.Result) (where string, raw []byte) {
	if len(r.Data) > 0 {
		return "data", r.Data
	}
	return "text", []byte(r.Text)
}

// findings collects the faults, up to maxFindings.
type findings struct {
	list []Problem
	more int
}

const maxFindings = 1000

func (f *findings) add(path, format string, args ...any) {
	if len(f.list) >= maxFindings {
		f.more++
		return
	}
	what := fmt.Sprintf(format, args...)
	if clipped := refusal.Clip(what, 300); clipped != what {
		what = clipped + "…"
	}
	if clipped := refusal.Clip(path, 200); clipped != path {
		path = clipped + "…"
	}
	f.list = append(f.list, Problem{Path: path, What: what})
}

func (f *findings) refusal(most int) error {
	if len(f.list) == 0 {
		return nil
	}
	named := f.list[:min(most, len(f.list))]
	more := f.more + len(f.list) - len(named)
	var b strings.Builder
	for i, p := range named {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.Path + ": " + p.What)
	}
	if more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return refusal.New(refusal.Invalid, "fix it and [complete the task](task complete) again", "the result is not as expected: %s", b.String()).
		With("problems", named).With("more", more)
}
