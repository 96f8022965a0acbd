package webpage

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/form"
	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// taskList is a page of tasks.
type taskList struct {
	Filter       client.TaskFilter
	Since, Until string   // as they were typed
	Narrowed     []string // what the filter is set to
	States       []client.State
	Tasks        []client.TaskRow
	Counts       []stateCount // of the tasks on all pages; on the first one alone
	All          int
	Most         int    // that are changed at once
	Here, Next   string // the addresses of this page and of the next; no next at the end
}

// stateCount is how many tasks are in a state, and the address of their list.
type stateCount struct {
	State client.State
	N     int
	Path  string
}

func (v *visit) tasks(w http.ResponseWriter, r *http.Request) error {
	l, err := v.list(r.Context(), "/tasks", r.URL.Query(), "")
	if err != nil {
		return err
	}
	return v.show(w, r, "tasks", page{Title: "Tasks", Live: everything, Body: l})
}

// list reads the tasks that a page lists, by the parameters of its address: in one state only, if the page has no others.
func (v *visit) list(ctx context.Context, path string, q url.Values, only client.State) (taskList, error) {
	q.Del("did")
	if only != "" {
		q.Del("state")
		q.Del("live")
	}
	f := client.TaskFilter{State: cmp.Or(only, client.State(q.Get("state"))), Owner: q.Get("owner"), Parent: q.Get("parent"), Live: q.Get("live") != "", Text: q.Get("text"), Words: q.Get("words"), After: q.Get("after"), Limit: 100}
	f.Counts = f.After == "" && f.Words == ""
	var err error
	if f.Since, f.Until, err = v.between(q); err != nil {
		return taskList{}, err
	}
	got, err := v.api.Tasks(ctx, f)
	if err != nil {
		return taskList{}, err
	}
	l := taskList{Filter: f, Narrowed: human.Narrowed(q), Since: q.Get("since"), Until: q.Get("until"), States: client.States(), Most: form.Most, Tasks: got.Tasks, Here: listPath(path, q)}
	if got.Next != "" {
		q.Set("after", got.Next)
		l.Next = listPath(path, q)
	}
	q.Del("after")
	for _, state := range l.States {
		if n := got.Counts[state]; n > 0 {
			q.Set("state", string(state))
			l.Counts, l.All = append(l.Counts, stateCount{state, n, listPath(path, q)}), l.All+n
		}
	}
	return l, nil
}

func listPath(path string, q url.Values) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// between reads the times since and until which something must have changed.
func (v *visit) between(q url.Values) (since, until time.Time, err error) {
	for name, t := range map[string]*time.Time{"since": &since, "until": &until} {
		if *t, err = human.Past(v.now(), q.Get(name)); err != nil {
			return since, until, form.Invalid(name+": "+err.Error(), "write how long ago, such as 90m, 2h or 7d, or a time in UTC, such as 2026-11-27 14:30")
		}
	}
	return since, until, nil
}

// cancelTasks cancels the tasks that were chosen, with their children. Those that cannot be are named, with the reason; the others are.
func (v *visit) cancelTasks(w http.ResponseWriter, r *http.Request) error {
	ids, err := form.Chosen(r, "tasks")
	if err != nil {
		return err
	}
	err = form.Each(r, ids, func(ctx context.Context, id string) error {
		_, err := v.api.Cancel(ctx, id, client.CancelInput{Detail: r.PostFormValue("detail")})
		return err
	})
	return v.onList(w, r, "cancelall", v.named(r.Context(), ids, err))
}

// onList goes on to the list that a form was on, as it was, which says what was done.
func (v *visit) onList(w http.ResponseWriter, r *http.Request, did string, err error) error {
	if err != nil {
		return err
	}
	q := r.URL.Query()
	q.Set("did", did)
	http.Redirect(w, r, listPath(r.URL.Path, q), http.StatusSeeOther)
	return nil
}

func (v *visit) takeOver(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("task")
	_, err := v.api.Takeover(client.WithKey(r.Context(), r.PostFormValue("key")), id, client.TakeoverInput{
		To: r.PostFormValue("to"), From: r.PostFormValue("from"), Detail: r.PostFormValue("detail"), Content: form.Instead(r),
	})
	return v.after(w, r, "/tasks/"+url.PathEscape(id), "takeover", err)
}

// complete completes a task that the person owns.
func (v *visit) complete(w http.ResponseWriter, r *http.Request) error {
	id, result := r.PathValue("task"), client.Result{Text: r.PostFormValue("result"), Data: []byte(r.PostFormValue("data"))}
	if len(result.Data) > 0 && !json.Valid(result.Data) {
		return form.Invalid("the data are no JSON", `go back, and write them as JSON, such as {"amount": 30}`)
	}
	_, err := v.api.Complete(client.WithKey(r.Context(), r.PostFormValue("key")), id, client.CompleteInput{Epoch: form.Epoch(r), Result: result})
	return v.after(w, r, "/tasks/"+url.PathEscape(id), "complete", err)
}

// send hands on a task that the person owns.
func (v *visit) send(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("task")
	_, err := v.api.Send(client.WithKey(r.Context(), r.PostFormValue("key")), id, client.SendInput{
		Epoch: form.Epoch(r), To: form.Names(r.PostFormValue("to")), Content: client.Content{Ask: r.PostFormValue("ask"), State: r.PostFormValue("state")},
	})
	return v.after(w, r, "/tasks/"+url.PathEscape(id), "send", err)
}

// cancel cancels a task and its children.
func (v *visit) cancel(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("task")
	_, err := v.api.Cancel(client.WithKey(r.Context(), r.PostFormValue("key")), id, client.CancelInput{Detail: r.PostFormValue("detail")})
	return v.after(w, r, "/tasks/"+url.PathEscape(id), "cancel", err)
}

// after goes on to a page that says what was done.
func (v *visit) after(w http.ResponseWriter, r *http.Request, to, did string, err error) error {
	if err != nil {
		return err
	}
	http.Redirect(w, r, to+"?did="+did, http.StatusSeeOther)
	return nil
}

// agentPage is an agent, with what waits for it and what it has.
type agentPage struct {
	client.Agent
	Inbox []client.Item
	More  bool // waits for it than Inbox
	Held  []client.TaskRow
	Rest  string // the address of all that it has; empty: Held is
	Ways  []client.Readiness
}

func (v *visit) agent(w http.ResponseWriter, r *http.Request) error {
	const most = 50
	ctx, name := r.Context(), r.PathValue("agent")
	a, err := v.api.Agent(ctx, name)
	if err != nil {
		return err
	}
	in, err := v.api.Inbox(ctx, client.InboxOptions{Agent: name, Peek: true, Limit: most + 1})
	if err != nil && !hidden(err) {
		return err
	}
	held, err := v.api.Tasks(ctx, client.TaskFilter{Live: true, Owner: name, Limit: most + 1})
	if err != nil {
		return err
	}
	of := agentPage{Agent: a, Inbox: in.Items[:min(len(in.Items), most)], More: len(in.Items) > most, Held: held.Tasks[:min(len(held.Tasks), most)], Ways: client.Readinesses()}
	if len(held.Tasks) > most {
		of.Rest = listPath("/tasks", url.Values{"owner": {name}, "live": {"1"}})
	}
	return v.show(w, r, "agent", page{Title: a.Name, Live: everything, Body: of})
}

func (v *visit) setReadiness(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("agent")
	_, err := v.api.SetReadiness(client.WithKey(r.Context(), r.PostFormValue("key")), name, client.Readiness(r.PathValue("readiness")))
	return v.after(w, r, "/agents/"+url.PathEscape(name), "readiness", err)
}

// resetCircuit closes an agent's circuits: handoffs go to it again.
func (v *visit) resetCircuit(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("agent")
	_, err := v.api.ResetCircuit(client.WithKey(r.Context(), r.PostFormValue("key")), name)
	return v.after(w, r, "/agents/"+url.PathEscape(name), "circuit", err)
}
