package form

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

// Most is how many tasks one form changes.
const Most = 500

// Invalid is the refusal of a form, with what to do.
func Invalid(message, hint string) error {
	return &client.Error{Status: http.StatusUnprocessableEntity, Code: client.Invalid, Message: message, Hint: hint}
}

// Epoch is the epoch of a task in a form; 0: there is none.
func Epoch(r *http.Request) uint64 {
	epoch, _ := strconv.ParseUint(r.PostFormValue("epoch"), 10, 64)
	return epoch
}

// Instead is what a receiver reads in place of what others asked, in a form of an operator.
func Instead(r *http.Request) client.Content {
	c := client.Content{Ask: r.PostFormValue("ask")}
	if r.PostFormValue("answered") != "" {
		c.Questions = []string{}
	}
	return c
}

// Names are the names that a person types, with blanks or commas between them.
func Names(text string) []string { return strings.Fields(strings.ReplaceAll(text, ",", " ")) }

// Chosen returns the ids of the tasks that were chosen in a form.
func Chosen(r *http.Request, what string) ([]string, error) {
	if err := r.ParseForm(); err != nil {
		return nil, Invalid("the form is malformed: "+err.Error(), "go back and try again")
	}
	ids := r.PostForm["task"]
	if len(ids) == 0 || len(ids) > Most {
		return nil, Invalid(fmt.Sprintf("%d %s are chosen", len(ids), what), fmt.Sprintf("go back, and choose 1 to %d of them", Most))
	}
	return ids, nil
}

// Each does something to each of some tasks, also after one that cannot be changed. The error names those.
func Each(r *http.Request, ids []string, act func(ctx context.Context, id string) error) error {
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
