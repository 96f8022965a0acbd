package webpage

import (
	"context"
	"fmt"
	"net/http"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
)

func (v *visit) dead(w http.ResponseWriter, r *http.Request) error {
	l, err := v.list(r.Context(), "/dead", r.URL.Query(), client.Parked)
	if err != nil {
		return err
	}
	return v.show(w, r, "dead_letters", page{Title: "Dead letters", Live: everything, Body: l})
}

// actOnDead replays or discards the dead letters that were chosen. Those that cannot be are named, with the reason; the others are.
func (v *visit) actOnDead(w http.ResponseWriter, r *http.Request) error {
	ids, err := form.Chosen(r, "dead letters")
	if err != nil {
		return err
	}
	verb := r.PostFormValue("verb")
	act, err := v.ofDead(r, verb)
	if err != nil {
		return err
	}
	return v.onList(w, r, verb, v.named(r.Context(), ids, form.Each(r, ids, act)))
}

// ofDead returns what a form does to each dead letter.
func (v *visit) ofDead(r *http.Request, verb string) (func(ctx context.Context, id string) error, error) {
	switch verb {
	case "discard":
		why, err := form.Discard(r)
		return func(ctx context.Context, id string) error {
			_, err := v.api.Discard(ctx, id, why)
			return err
		}, err
	case "replay":
		in, err := form.Replay(r)
		return func(ctx context.Context, id string) error {
			_, err := v.api.Replay(ctx, id, in(id))
			return err
		}, err
	}
	return nil, form.Invalid(fmt.Sprintf("dead letters cannot be %.20q", verb), "replay or discard them")
}
