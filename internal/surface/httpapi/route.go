package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/knowledge"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/roster"
)

// route is where a use case can be called, and what the documentation says of it.
type route struct {
	method, path string
	id           string // operation id: the client's verb in kebab case
	summary      string
	about        string // longer
	tag          string
	status       int // of success; 0 means 200
}

const (
	bodyTimeout = 20 * time.Second
	// waitLimit is how long a read waits for a position.
	waitLimit = 10 * time.Second
)

func (s *service) operation(r route) huma.Operation {
	return huma.Operation{
		Method: r.method, Path: r.path, OperationID: r.id, Summary: r.summary, Description: r.about, Tags: []string{r.tag},
		DefaultStatus: r.status, MaxBodyBytes: s.opts.MaxBody + 1, BodyReadTimeout: bodyTimeout,
		Security: []map[string][]string{{"token": {}}},
	}
}

// Keyed is what calls that change something take beside their body.
type Keyed struct {
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"Makes the call safe to repeat: under the same key it happens once. A UUID of version 7 is best."`
}

// Reading is what reads take.
type Reading struct {
	Min   uint64 `header:"Trapeze-Min-Position" doc:"Wait until the answer has everything up to this position, such as that of an earlier answer."`
	After uint64 `query:"after_position" doc:"The same as Trapeze-Min-Position."`
}

func (r *Reading) position() uint64 { return max(r.Min, r.After) }

// keyedBody is the input of a call that changes something under an id.
type keyedBody[B any] struct {
	Keyed
	ID   string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Body B
}

// keyedID is the same without a body.
type keyedID struct {
	Keyed
	ID string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
}

// readingID is the input of a read under an id.
type readingID struct {
	Reading
	ID string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
}

// answer is every output. Position is up to which the answer is true.
type answer[O any] struct {
	Position uint64 `header:"Trapeze-Position" doc:"Place in the record up to which the answer is true. Give it to a later read that must not know less."`
	Body     O
}

// positioned is an output that knows its place in the record.
type positioned interface{ position() uint64 }

func answerOf[O any](v O) *answer[O] { return &answer[O]{Body: v, Position: positionOf(v)} }

func positionOf(v any) uint64 {
	switch v := v.(type) {
	case app.Receipt:
		return uint64(v.Position)
	case app.Accepted:
		return uint64(v.Position)
	case app.Imported:
		return uint64(v.Position)
	case roster.Agent:
		return uint64(v.Position)
	case roster.Channel:
		return uint64(v.Position)
	case knowledge.Item:
		return uint64(v.Position)
	case knowledge.Said:
		return uint64(v.Position)
	case knowledge.Conversation:
		return uint64(v.Position)
	case knowledge.Continuity:
		return uint64(v.Position)
	case positioned:
		return v.position()
	}
	return 0
}

// change serves a use case that takes an id and a body. A body in which nothing is required may be left out.
func change[B, O any](s *service, r route, fn func(ctx context.Context, c app.Caller, id string, in B) (O, error)) {
	op := s.operation(r)
	ready := through(s, &op, fn)
	huma.Register(s.api, op, func(ctx context.Context, in *keyedBody[B]) (*answer[O], error) {
		v, err := fn(ctx, caller(ctx).WithKey(in.Key), in.ID, in.Body)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(v), nil
	})
	s.relax(op.RequestBody)
	ready()
}

// relax makes a body optional in which nothing is required.
func (s *service) relax(body *huma.RequestBody) {
	schema := body.Content["application/json"].Schema
	for schema.Ref != "" {
		schema = s.api.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	body.Required = len(schema.Required) > 0
}

// act serves a use case that takes an id and no body.
func act[O any](s *service, r route, fn func(ctx context.Context, c app.Caller, id string) (O, error)) {
	huma.Register(s.api, s.operation(r), func(ctx context.Context, in *keyedID) (*answer[O], error) {
		v, err := fn(ctx, caller(ctx).WithKey(in.Key), in.ID)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(v), nil
	})
}

// reader is a pointer to an input that embeds [Reading].
type reader[I any] interface {
	*I
	position() uint64
}

// read serves a use case that changes nothing.
func read[I, O any, P reader[I]](s *service, r route, fn func(ctx context.Context, c app.Caller, in P) (O, error)) {
	r.method = http.MethodGet
	huma.Register(s.api, s.operation(r), func(ctx context.Context, in *I) (*answer[O], error) {
		if err := s.wait(ctx, P(in).position()); err != nil {
			return nil, s.problem(ctx, err)
		}
		v, err := fn(ctx, caller(ctx), in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(v), nil
	})
}

// wait returns when the views have everything up to a position that is on record.
func (s *service) wait(ctx context.Context, position uint64) error {
	if position == 0 {
		return nil
	}
	last, err := s.app.Last(ctx)
	if err != nil {
		return err
	}
	if position > uint64(last) {
		return refusal.New(refusal.Invalid, "give the position of an answer of this server",
			"position %d is not on record; the newest entry is %d", position, last)
	}
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	return waitFor(ctx, s.app.Wait, position)
}

// waitFor gives a number the type of the ledger's positions, which this room does not know by name.
func waitFor[P ~uint64](ctx context.Context, wait func(context.Context, P) error, position uint64) error {
	return wait(ctx, P(position))
}
