package webpage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// maxAtOnce is how many dead letters one form replays or discards.
const maxAtOnce = 100

// actOnDead replays or discards the dead letters that were chosen. Those that cannot be are named, with the reason; the others are.
func (v *visit) actOnDead(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return invalid("the form is malformed: "+err.Error(), "go back and try again")
	}
	ids, verb := r.PostForm["task"], r.PostFormValue("verb")
	if len(ids) == 0 || len(ids) > maxAtOnce {
		return invalid(fmt.Sprintf("%d dead letters are chosen", len(ids)), fmt.Sprintf("choose 1 to %d of them", maxAtOnce))
	}
	act, err := v.ofDead(r, verb)
	if err != nil {
		return err
	}
	var failed []string
	for _, id := range ids {
		if err := act(client.WithKey(r.Context(), r.PostFormValue("key")+id), id); err != nil {
			var refused *client.Error
			if !errors.As(err, &refused) {
				return err
			}
			failed = append(failed, id+": "+refused.Message)
		}
	}
	if len(failed) > 0 {
		return &client.Error{
			Status: http.StatusConflict, Code: client.Conflict, Hint: "look at each of them",
			Message: fmt.Sprintf("%d of %d were not changed: %s", len(failed), len(ids), strings.Join(failed, "; ")),
		}
	}
	return v.after(w, r, "/dead", verb, nil)
}

// ofDead returns what a form does to each dead letter.
func (v *visit) ofDead(r *http.Request, verb string) (func(ctx context.Context, id string) error, error) {
	switch verb {
	case "discard":
		return func(ctx context.Context, id string) error {
			_, err := v.api.Discard(ctx, id, r.PostFormValue("why"))
			return err
		}, nil
	case "replay":
		in := client.ReplayInput{Capability: r.PostFormValue("capability"), Note: r.PostFormValue("why"), Home: r.PostFormValue("home") != ""}
		if to := strings.TrimSpace(r.PostFormValue("to")); to != "" {
			in.To = strings.Fields(strings.ReplaceAll(to, ",", " "))
		}
		if text := r.PostFormValue("tokens"); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 1 {
				return nil, invalid(fmt.Sprintf("the budget %.20q is not a number of tokens", text), "give a whole number, or leave it empty")
			}
			in.Budget.Tokens = n
		}
		return func(ctx context.Context, id string) error {
			_, err := v.api.Replay(ctx, id, in)
			return err
		}, nil
	}
	return nil, invalid(fmt.Sprintf("dead letters cannot be %.20q", verb), "replay or discard them")
}

func invalid(message, hint string) error {
	return &client.Error{Status: http.StatusUnprocessableEntity, Code: client.Invalid, Message: message, Hint: hint}
}
