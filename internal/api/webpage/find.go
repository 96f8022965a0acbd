package webpage

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// Places in which a search looks.
const (
	inTasks         = "tasks"
	inAgents        = "agents"
	inMemory        = "memory"
	inConversations = "conversations"
)

// search is what somebody looks for, and in which part of what there is. Empty fields do not narrow it.
type search struct {
	Query string
	In    string // one of the places
	State string // of tasks, or live: those that have not ended
	Agent string // that owns a task, has written a memory item, has spoken in a conversation
	Tag   string // of memory items
	Scope string // of memory items
	Since string // when a task or a memory item changed last, as it was typed
	Until string
}

// looksIn reports whether the search looks in a place: each filter leaves out the places that do not have what it asks for.
func (s search) looksIn(place string) bool {
	return s != (search{}) && (s.In == "" || s.In == place) &&
		(s.State == "" || place == inTasks) && (s.Tag == "" && s.Scope == "" || place == inMemory) &&
		(s.Since == "" && s.Until == "" || place == inTasks || place == inMemory)
}

// found is what fits a search.
type found struct {
	search
	States        []client.State
	Scopes        []client.Scope
	Places        []string
	Tasks         []client.TaskRow
	Agents        []client.Agent
	Memories      []client.MemoryItem
	Conversations []client.Conversation
	since, until  time.Time
	Asked         bool     // for anything
	Narrowed      []string // what the search is narrowed by
	All           string   // the list of all tasks that fit, if there are older ones
	Older         string   // the next page of tasks; empty: all were looked in
	Earlier       string   // the next page of conversations; empty: there is none
}

// Looked reports whether the page has the results of a place.
func (f found) Looked(place string) bool { return f.looksIn(place) }

// maxFound is how many tasks that fit are shown; the list of tasks shows all. maxMemories is how many memory items are.
const (
	maxFound    = 50
	maxMemories = 20
)

// find goes to a task, handoff or ticket by its id, and looks for anything else in tasks, agents, memory and conversations.
func (v *visit) find(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	if to := pathOf(strings.TrimSpace(q.Get("q"))); to != "" {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	f := found{
		search: search{Query: strings.TrimSpace(q.Get("q")), In: q.Get("in"), State: q.Get("state"), Agent: strings.TrimSpace(q.Get("agent")), Tag: strings.TrimSpace(q.Get("tag")), Scope: q.Get("scope"), Since: strings.TrimSpace(q.Get("since")), Until: strings.TrimSpace(q.Get("until"))},
		States: client.States(), Scopes: client.Scopes(), Places: []string{inTasks, inAgents, inMemory, inConversations},
	}
	f.Asked, f.Narrowed = f.search != (search{}), human.Narrowed(q)
	if f.In != "" && !slices.Contains(f.Places, f.In) {
		return form.Invalid("there is no such place to look in", "choose one of the list")
	}
	var err error
	if f.since, f.until, err = v.between(q); err != nil {
		return err
	}
	for place, look := range map[string]func(context.Context, *found, url.Values) error{inTasks: v.findTasks, inAgents: v.findAgents, inMemory: v.findMemory, inConversations: v.findConversations} {
		if !f.looksIn(place) {
			continue
		}
		if err := look(ctx, &f, q); err != nil {
			return err
		}
	}
	shown := page{Title: "Find", Body: f}
	for _, c := range f.Conversations {
		shown.About = append(shown.About, c.Tasks...)
	}
	if f.Asked {
		shown.Live = everything
	}
	return v.show(w, r, "find", shown)
}

// pathOf is the page of the task, handoff or ticket that an id names; empty: it is none.
func pathOf(id string) string {
	task, rest, _ := strings.Cut(id, ".")
	if !strings.HasPrefix(task, "task_") || len(task) < len("task_00000000000000000000000000") { // the beginning of an id is looked for
		return ""
	}
	if hop, ok := strings.CutPrefix(rest, "h"); ok {
		return "/tasks/" + url.PathEscape(task) + "/hops/" + url.PathEscape(hop)
	}
	if strings.HasPrefix(rest, "k") {
		return "/tickets/" + url.PathEscape(id)
	}
	return "/tasks/" + url.PathEscape(task)
}

// findTasks adds the newest tasks whose id, request, requester, owner or receivers have the words, or their beginnings, and those of the newest that have them in what the
// person may read of them; a next page looks in older ones.
func (v *visit) findTasks(ctx context.Context, f *found, q url.Values) error {
	in := client.TaskFilter{Text: f.Query, Owner: f.Agent, Since: f.since, Until: f.until, Limit: maxFound}
	if f.State == "live" {
		in.Live = true
	} else {
		in.State = client.State(f.State)
	}
	if after := q.Get("tasks"); after != "" {
		in.After = after // older tasks have the words in what is said in them
	} else {
		got, err := v.api.Tasks(ctx, in)
		if err != nil {
			return err
		}
		f.Tasks = got.Tasks
		if got.Next != "" {
			f.All = f.list(in)
		}
	}
	if f.Query == "" {
		return nil
	}
	in.Text, in.Words = "", f.Query
	said, err := v.api.Tasks(ctx, in)
	for _, t := range said.Tasks {
		if !slices.ContainsFunc(f.Tasks, func(other client.TaskRow) bool { return other.ID == t.ID }) {
			f.Tasks = append(f.Tasks, t)
		}
	}
	slices.SortFunc(f.Tasks, func(a, b client.TaskRow) int { return cmp.Compare(b.ID, a.ID) })
	if said.Next != "" {
		next := maps.Clone(q)
		next.Set("tasks", said.Next)
		next.Set("in", inTasks)
		f.Older = "/find?" + next.Encode()
	}
	return err
}

// list is the address of the list of tasks that a filter finds.
func (f *found) list(in client.TaskFilter) string {
	all := url.Values{}
	for name, value := range map[string]string{"text": f.Query, "owner": f.Agent, "state": string(in.State), "since": f.Since, "until": f.Until} {
		if value != "" {
			all.Set(name, value)
		}
	}
	if in.Live {
		all.Set("live", "1")
	}
	return listPath("/tasks", all)
}

// findAgents adds the agents whose name, description or capabilities have the words.
func (v *visit) findAgents(ctx context.Context, f *found, _ url.Values) error {
	list, err := v.api.Agents(ctx)
	for _, a := range list.Agents {
		if matches(f.Query, a.Name, a.Spec.Description, strings.Join(a.Spec.Capabilities, " ")) && (f.Agent == "" || a.Name == f.Agent) {
			f.Agents = append(f.Agents, a)
		}
	}
	return err
}

func (v *visit) findMemory(ctx context.Context, f *found, _ url.Values) error {
	got, err := v.api.SearchMemory(ctx, client.MemoryFilter{Query: f.Query, Agent: f.Agent, Tag: f.Tag, Scope: client.Scope(f.Scope), Since: f.since, Until: f.until, Limit: maxMemories})
	if err != nil && !hidden(err) {
		return err
	}
	f.Memories = got.Items
	return nil
}

func (v *visit) findConversations(ctx context.Context, f *found, q url.Values) error {
	got, err := v.api.Conversations(ctx, client.ConversationFilter{Text: f.Query, Agent: f.Agent, Limit: maxFound, After: q.Get("conversations")})
	if err != nil && !hidden(err) {
		return err
	}
	f.Conversations = got.Conversations
	if got.Next != "" {
		q.Set("conversations", got.Next)
		f.Earlier = "/find?" + q.Encode()
	}
	return nil
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
