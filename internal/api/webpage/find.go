package webpage

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// found is what has the words that somebody looks for.
type found struct {
	Query         string
	Tasks         []client.TaskRow
	Agents        []client.Agent
	Memories      []client.MemoryItem
	Conversations []client.Conversation
	More          bool   // there are older tasks with the words
	Earlier       string // the conversation after which the next page begins
}

// maxFound is how many tasks with the words are shown; the list of tasks shows all.
const maxFound = 50

// find goes to a task, handoff or ticket by its id, and looks for anything else in agents, memory and conversations.
func (v *visit) find(w http.ResponseWriter, r *http.Request) error {
	ctx, f := r.Context(), found{Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	if task, rest, _ := strings.Cut(f.Query, "."); strings.HasPrefix(task, "task_") {
		to := "/tasks/" + url.PathEscape(task)
		if hop, ok := strings.CutPrefix(rest, "h"); ok {
			to += "/hops/" + url.PathEscape(hop)
		} else if strings.HasPrefix(rest, "k") {
			to = "/tickets/" + url.PathEscape(f.Query)
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	if f.Query != "" {
		agents, err := v.api.Agents(ctx)
		if err != nil {
			return err
		}
		for _, a := range agents.Agents {
			if matches(f.Query, a.Name, a.Spec.Description, strings.Join(a.Spec.Capabilities, " ")) {
				f.Agents = append(f.Agents, a)
			}
		}
		memories, err := v.api.SearchMemory(ctx, client.MemoryFilter{Query: f.Query, Limit: 20})
		if err != nil && !hidden(err) {
			return err
		}
		f.Memories = memories.Items
		if err := v.findTasks(ctx, &f); err != nil {
			return err
		}
		conversations, err := v.api.Conversations(ctx, client.ConversationFilter{Text: f.Query, Limit: maxFound, After: r.URL.Query().Get("conversations")})
		if err != nil && !hidden(err) {
			return err
		}
		f.Conversations, f.Earlier = conversations.Conversations, conversations.Next
	}
	return v.show(w, r, "find", page{Title: "Find", Body: f})
}

// findTasks adds the newest tasks whose request, requester or owner has the words.
func (v *visit) findTasks(ctx context.Context, f *found) error {
	got, err := v.api.Tasks(ctx, client.TaskFilter{Text: f.Query, Limit: maxFound})
	f.Tasks, f.More = got.Tasks, got.Next != ""
	return err
}

// matches reports whether each word of a query is in one of the texts.
func matches(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, " "))
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}
