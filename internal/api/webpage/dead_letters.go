package webpage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// deadLetters is a page of the dead-letter queue.
type deadLetters struct {
	Tasks []client.TaskRow
	Next  string
}

func (v *visit) dead(w http.ResponseWriter, r *http.Request) error {
	got, err := v.api.Dead(r.Context(), client.TaskFilter{After: r.URL.Query().Get("after"), Limit: 100})
	if err != nil {
		return err
	}
	d := deadLetters{Tasks: got.Tasks}
	if got.Next != "" {
		d.Next = "/dead?after=" + got.Next
	}
	return v.show(w, r, "dead", page{Title: "Dead letters", Live: "*", Body: d})
}

// actOnDead replays or discards the dead letters that were chosen. Those that cannot be are named, with the reason; the others are.
func (v *visit) actOnDead(w http.ResponseWriter, r *http.Request) error {
	ids, err := chosen(r, "dead letters")
	if err != nil {
		return err
	}
	if err := changedAlone(r, ids); err != nil {
		return err
	}
	verb := r.PostFormValue("verb")
	act, err := v.ofDead(r, verb)
	if err != nil {
		return err
	}
	return v.after(w, r, "/dead", verb, each(r, ids, act))
}

// maxAtOnce is how many tasks one form changes.
const maxAtOnce = 500

// chosen returns the ids of the tasks that were chosen in a form.
func chosen(r *http.Request, what string) ([]string, error) {
	if err := r.ParseForm(); err != nil {
		return nil, invalid("the form is malformed: "+err.Error(), "go back and try again")
	}
	ids := r.PostForm["task"]
	if len(ids) == 0 || len(ids) > maxAtOnce {
		return nil, invalid(fmt.Sprintf("%d %s are chosen", len(ids), what), fmt.Sprintf("go back, and choose 1 to %d of them", maxAtOnce))
	}
	return ids, nil
}

// each does something to each of some tasks, also after one that cannot be changed. The error names those.
func each(r *http.Request, ids []string, act func(ctx context.Context, id string) error) error {
	var failed []string
	hints := map[string]bool{}
	for _, id := range ids {
		if err := act(client.WithKey(r.Context(), r.PostFormValue("key")+id), id); err != nil {
			var refused *client.Error
			if !errors.As(err, &refused) {
				return err
			}
			failed, hints[refused.Hint] = append(failed, id+": "+refused.Message), true
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return &client.Error{
		Status: http.StatusConflict, Code: client.Conflict, Hint: strings.Join(slices.Sorted(maps.Keys(hints)), "; "),
		Message: fmt.Sprintf("%d of %d were not changed: %s", len(failed), len(ids), strings.Join(failed, "; ")),
	}
}

// ofDead returns what a form does to each dead letter.
func (v *visit) ofDead(r *http.Request, verb string) (func(ctx context.Context, id string) error, error) {
	switch verb {
	case "discard":
		if strings.TrimSpace(r.PostFormValue("why")) == "" {
			return nil, invalid("it is not said why they are discarded", "write the reason into the note")
		}
		return func(ctx context.Context, id string) error {
			_, err := v.api.Discard(ctx, id, r.PostFormValue("why"))
			return err
		}, nil
	case "replay":
		in := client.ReplayInput{To: names(r.PostFormValue("to")), Capability: r.PostFormValue("capability"), Note: r.PostFormValue("why"), Home: r.PostFormValue("home") != "", Content: instead(r)}
		if text := r.PostFormValue("tokens"); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 1 {
				return nil, invalid(fmt.Sprintf("the budget %.20q is not a number of tokens", text), "give a whole number, or leave it empty")
			}
			in.Budget.Tokens = n
		}
		all := names(r.PostFormValue("route"))
		return func(ctx context.Context, id string) error {
			in := in
			if in.Route = all; len(all) == 0 {
				in.Route = routeOf(r, id)
			}
			_, err := v.api.Replay(ctx, id, in)
			return err
		}, nil
	}
	return nil, invalid(fmt.Sprintf("dead letters cannot be %.20q", verb), "replay or discard them")
}

// routeOf is the route of a dead letter as the person has changed it: nil, if not; empty, if it is to have none.
func routeOf(r *http.Request, id string) []string {
	route := names(r.PostFormValue("route-" + id))
	if slices.Equal(route, names(r.PostFormValue("was-"+id))) {
		return nil
	}
	return append([]string{}, route...)
}

// changedAlone refuses a route that was changed of a dead letter that is not chosen: it would be lost.
func changedAlone(r *http.Request, chosen []string) error {
	for name := range r.PostForm {
		id, ok := strings.CutPrefix(name, "route-")
		if ok && routeOf(r, id) != nil && !slices.Contains(chosen, id) {
			return invalid(fmt.Sprintf("the route of %.80s was changed, and it is not chosen", id), "choose it, too, or give it its route again")
		}
	}
	return nil
}

func invalid(message, hint string) error {
	return &client.Error{Status: http.StatusUnprocessableEntity, Code: client.Invalid, Message: message, Hint: hint}
}
