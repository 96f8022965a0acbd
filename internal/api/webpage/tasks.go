package webpage

import (
	"net/http"
	"net/url"

	"github.com/trapezehq/trapeze/client"
)

// taskList is a page of tasks.
type taskList struct {
	Filter client.TaskFilter
	States []client.State
	Tasks  []client.TaskRow
	Next   string // the address of the next page; empty at the end
}

func (v *visit) tasks(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f := client.TaskFilter{State: client.State(q.Get("state")), Owner: q.Get("owner"), Parent: q.Get("parent"), Live: q.Get("live") != "", Text: q.Get("text"), After: q.Get("after"), Limit: 100}
	got, err := v.api.Tasks(r.Context(), f)
	if err != nil {
		return err
	}
	l := taskList{Filter: f, States: client.States(), Tasks: got.Tasks}
	if got.Next != "" {
		q.Set("after", got.Next)
		l.Next = "/tasks?" + q.Encode()
	}
	return v.show(w, r, "tasks", page{Title: "Tasks", Body: l})
}

func (v *visit) takeOver(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("task")
	_, err := v.api.Takeover(client.WithKey(r.Context(), r.PostFormValue("key")), id, client.TakeoverInput{
		To: r.PostFormValue("to"), From: r.PostFormValue("from"), Detail: r.PostFormValue("detail"),
	})
	return v.after(w, r, "/tasks/"+url.PathEscape(id), "takeover", err)
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
	Held  []client.TaskRow
	Ways  []client.Readiness
}

func (v *visit) agent(w http.ResponseWriter, r *http.Request) error {
	ctx, name := r.Context(), r.PathValue("agent")
	a, err := v.api.Agent(ctx, name)
	if err != nil {
		return err
	}
	in, err := v.api.Inbox(ctx, client.InboxOptions{Agent: name, Peek: true, Limit: 50})
	if err != nil && !hidden(err) {
		return err
	}
	held, err := v.api.Tasks(ctx, client.TaskFilter{Live: true, Owner: name, Limit: 50})
	if err != nil {
		return err
	}
	return v.show(w, r, "agent", page{Title: a.Name, Body: agentPage{a, in.Items, held.Tasks, client.Readinesses()}})
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
