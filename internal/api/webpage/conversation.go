package webpage

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// turnsShown is how many turns of a conversation are on a page.
const turnsShown = 50

// conversationPage is the turns of a conversation that the person may read.
type conversationPage struct {
	client.Conversation
	Earlier string // the address of the turns before; empty: there are none
}

func (v *visit) conversation(w http.ResponseWriter, r *http.Request) error {
	id, before := r.PathValue("conversation"), 0
	if text := r.URL.Query().Get("before"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return form.Invalid(fmt.Sprintf("%.20q is not the number of a turn", text), "go back to the conversation")
		}
		before = n
	}
	got, err := v.api.Conversation(r.Context(), id, client.ConversationOptions{Limit: turnsShown, Before: before})
	if err != nil {
		return err
	}
	body := conversationPage{Conversation: got}
	if len(got.Turns) > 0 && got.Turns[0].N > 1 {
		body.Earlier = fmt.Sprintf("/conversations/%s?before=%d", url.PathEscape(id), got.Turns[0].N)
	}
	about := got.Tasks
	for _, t := range got.Turns {
		about = append(about, t.Task)
	}
	return v.show(w, r, "conversation", page{Title: "Conversation " + human.Short(40, id), Live: following(got.ID), About: about, Body: body})
}
