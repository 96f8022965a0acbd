package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// Route is the path of a use case, and its documentation.
type Route struct {
	Method, Path string
	ID           string // operation id: the method of the client in kebab case
	Summary      string
	About        string // longer
	Tag          string
	Status       int // of success; 0 means 200
}

const (
	bodyTimeout = 20 * time.Second
	// waitLimit is how long a read waits for a position at most.
	waitLimit = 10 * time.Second
)

// Operation returns the huma operation of a route, for routes that no function here serves.
func (d *Router) Operation(r Route) huma.Operation {
	return huma.Operation{
		Method: r.Method, Path: r.Path, OperationID: r.ID, Summary: r.Summary, Description: r.About, Tags: []string{r.Tag},
		DefaultStatus: r.Status, MaxBodyBytes: d.maxBody + 1, BodyReadTimeout: bodyTimeout,
		Security: []map[string][]string{{"token": {}}},
	}
}

// Keyed is the input of calls that change something, in addition to their body.
type Keyed struct {
	Key    string `header:"Idempotency-Key" maxLength:"200" doc:"Makes the call safe to repeat: with the same key it takes effect once. A UUID version 7 is best: ids that are made from it sort by time."`
	Prefer string `header:"Prefer" doc:"receipt (RFC 7240): the answer has the receipt of what the call changed, which takes about as long as another write. Other preferences are ignored."`
}

// Reading is the input of reads.
type Reading struct {
	Min   positions.Position `header:"Trapeze-Min-Position" doc:"Wait until the answer includes everything up to this position, such as that of an earlier answer."`
	After positions.Position `query:"after_position" doc:"The same as Trapeze-Min-Position."`
}

// Least returns the position that the answer must include; 0 means any.
func (r *Reading) Least() positions.Position { return max(r.Min, r.After) }

// ReadingID is the input of a read of an id.
type ReadingID struct {
	Reading
	ID string `path:"id" maxLength:"80" doc:"Id, or the name of an agent or channel."`
}

// UsualPage is the default size of a page.
const UsualPage = 50

// Page selects a page of a list.
type Page struct {
	Limit int    `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number; 50 if omitted."`
	After string `query:"after" maxLength:"80" doc:"Field next of the previous page."`
}

// keyedBody is the input of a change of an id, with a body. The schema of the body is in the operation.
type keyedBody struct {
	Keyed
	ID   string `path:"id" maxLength:"80" doc:"Id, or the name of an agent or channel."`
	Body json.RawMessage
}

// newBody is the input of a call that creates something.
type newBody struct {
	Keyed
	Body json.RawMessage
}

// keyedID is the input of a change of an id, without a body.
type keyedID struct {
	Keyed
	ID string `path:"id" maxLength:"80" doc:"Id, or the name of an agent or channel."`
}

// answer is the output of every call. The schema of the body is in the operation.
type answer struct {
	Position reached `header:"Trapeze-Position" doc:"Position of the record that the answer includes. Send it with a later read that must include at least the same. Answers that are not read from one position do not have it."`
	Body     any
}

// reached is a position in a header; empty: the answer has none, and no such header.
type reached string

// Schema implements [huma.SchemaProvider].
func (reached) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[positions.Position](), true, "")
}

// Placed is an output with the position of the record that it includes.
type Placed interface{ At() positions.Position }

// Listed is embedded in lists that are read from the views.
type Listed struct {
	Position positions.Position `json:"position" doc:"The list includes every change up to this position of the record."`
}

// At implements [Placed].
func (l Listed) At() positions.Position { return l.Position }

func positionOf(v any) reached {
	if p, ok := v.(Placed); ok && p.At() != 0 {
		return reached(strconv.FormatUint(uint64(p.At()), 10))
	}
	return ""
}

// Change serves a use case that takes an id and a body. The body may be omitted if none of its fields is required.
func Change[B, O any](d *Router, r Route, fn func(ctx context.Context, c caller.Caller, id string, in *B) (O, error)) {
	op, p := d.withBody(r, bodyOf(fn))
	register(d, op, func(ctx context.Context, in *keyedBody) (any, error) {
		return p.decoded(ctx, Caller(ctx).WithKey(in.Key), in.ID, in.Body)
	})
	d.relax(op.RequestBody)
	p.ready()
}

// Under adapts a use case to [Change]: field returns the field of its input that gets the id of the path.
func Under[B, O any](field func(*B) *string, fn func(ctx context.Context, c caller.Caller, in B) (O, error)) func(context.Context, caller.Caller, string, *B) (O, error) {
	return func(ctx context.Context, c caller.Caller, id string, in *B) (O, error) {
		*field(in) = id
		return fn(ctx, c, *in)
	}
}

// relax makes a body without required fields optional.
func (d *Router) relax(body *huma.RequestBody) {
	schema := body.Content["application/json"].Schema
	for schema.Ref != "" {
		schema = d.api.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	body.Required = len(schema.Required) > 0
}

// Create serves a use case that takes a body and no id.
func Create[B, O any](d *Router, r Route, fn func(ctx context.Context, c caller.Caller, in B) (O, error)) {
	d.create(r, bodyOf(func(ctx context.Context, c caller.Caller, _ string, in *B) (O, error) { return fn(ctx, c, *in) }))
}

// CreateTask is [Create] for a use case that makes a task, which is noted for the log and the span of its call. task returns the id of the task.
func CreateTask[B, O any](d *Router, r Route, fn func(ctx context.Context, c caller.Caller, in *B) (O, error), task func(*O) string) {
	use := bodyOf[B, O](nil)
	use.call = func(ctx context.Context, c caller.Caller, _ string, in any) (any, error) { // without a function between, for the sake of the stack
		b, ok := in.(*B)
		if !ok {
			return nil, fmt.Errorf("input of type %T", in)
		}
		out, err := fn(ctx, c, b)
		if err == nil {
			isMade(ctx, task(&out))
		}
		return out, err
	}
	d.create(r, use)
}

func (d *Router) create(r Route, use withBody) {
	op, p := d.withBody(r, use)
	register(d, op, func(ctx context.Context, in *newBody) (any, error) {
		return p.decoded(ctx, Caller(ctx).WithKey(in.Key), "", in.Body)
	})
	p.ready()
}

// Act serves a use case that takes an id and no body.
func Act[O any](d *Router, r Route, fn func(ctx context.Context, c caller.Caller, id string) (O, error)) {
	Serve(d, r, func(ctx context.Context, c caller.Caller, in *keyedID) (O, error) {
		return fn(ctx, c.WithKey(in.Key), in.ID)
	})
}

// reader is a pointer to an input that embeds [Reading].
type reader[I any] interface {
	*I
	Least() positions.Position
}

// Read serves a use case that changes nothing.
func Read[I, O any, P reader[I]](d *Router, r Route, fn func(ctx context.Context, c caller.Caller, in P) (O, error)) {
	r.Method = http.MethodGet
	Serve(d, r, func(ctx context.Context, c caller.Caller, in *I) (O, error) {
		if err := d.wait(ctx, P(in).Least()); err != nil {
			var none O
			return none, err
		}
		return fn(ctx, c, in)
	})
}

// Serve serves a use case with any other input. If it changes something, the input must embed [Keyed], and fn must set the key of the
// caller.
func Serve[I, O any](d *Router, r Route, fn func(ctx context.Context, c caller.Caller, in *I) (O, error)) {
	op := d.Operation(r)
	d.describeAnswer(&op, reflect.TypeFor[O]())
	register(d, op, func(ctx context.Context, in *I) (any, error) {
		isDecoded(ctx)
		return fn(ctx, Caller(ctx), in)
	})
}

// register adds an operation to huma. huma compiles its whole handler again for every pair of types that it is called with: so there are
// few types of input here, and one type of output.
func register[I any](d *Router, op huma.Operation, fn func(ctx context.Context, in *I) (any, error)) {
	if op.Method != http.MethodGet {
		d.DescribeReceipt(&op)
	}
	huma.Register(d.api, op, func(ctx context.Context, in *I) (*answer, error) {
		receipt := Collect(ctx)
		v, err := fn(ctx, in)
		if err != nil {
			return nil, d.Problem(ctx, err)
		}
		if receipt {
			return &answer{Body: d.WithReceipt(ctx, v), Position: positionOf(v)}, nil
		}
		return &answer{Body: v, Position: positionOf(v)}, nil
	})
}

// describeAnswer puts the schema of an output into an operation.
func (d *Router) describeAnswer(op *huma.Operation, out reflect.Type) {
	status := cmp.Or(op.DefaultStatus, http.StatusOK)
	op.Responses = map[string]*huma.Response{strconv.Itoa(status): {Content: d.media(out, op.OperationID+"Response")}}
}

func (d *Router) media(t reflect.Type, hint string) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{jsonMedia: {Schema: d.api.OpenAPI().Components.Schemas.Schema(t, true, hint)}}
}

// Tell serves a use case without input and output.
func Tell(d *Router, r Route, fn func(ctx context.Context, c caller.Caller) error) {
	r.Status = http.StatusNoContent
	huma.Register(d.api, d.Operation(r), func(ctx context.Context, _ *struct{}) (*struct{}, error) {
		if err := fn(ctx, Caller(ctx)); err != nil {
			return nil, d.Problem(ctx, err)
		}
		return nil, nil //nolint:nilnil // no content
	})
}

// wait waits until the views include everything up to a position of the record.
func (d *Router) wait(ctx context.Context, position positions.Position) error {
	if position == 0 {
		return nil
	}
	if err := d.positions.Check(ctx, position); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	return d.positions.Wait(ctx, position)
}
