package webpage

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
	"github.com/trapezehq/trapeze/internal/api/webpage/refill"
	"github.com/trapezehq/trapeze/internal/api/webpage/sheet"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

//go:embed templates
var templateFiles embed.FS

// page is what every page shows around its body.
type page struct {
	Title  string
	Path   string // of this page
	Live   string // what the page follows, as [following] writes it; empty: nothing
	Me     client.Me
	Key    string // for the forms of the page: what is sent twice happens once
	Done   string // what the person has just done
	Onward string // where the person goes on after that; empty: here
	Body   any

	About []string    // ids of tasks, handoffs and tickets that the body has and people read by their names
	Names human.Names // of those

	Static string // the version of scripts and styles
}

// templates returns the pages by name, each in the frame of base.html. The commands of the program do not wait for their parsing.
var templates = sync.OnceValue(parse)

func parse() map[string]*template.Template {
	base := template.Must(template.New("base.html").Funcs(template.FuncMap{
		"ago": human.Time, "times": human.Times, "iso": human.ISO, "short": human.Short, "percent": human.Percent, "seconds": human.Seconds, "label": human.Label, "counted": human.Counted, "heading": human.Heading, "ticks": human.Ticks, "hours": human.Hours, "lasting": human.Lasting, "last": human.Last, "headline": human.Headline, "details": human.Details, "fate": human.Fate, "because": sheet.Because, "span": human.Span,
		"dict": dict, "as": ownerOf, "acts": acts, "asked": asked, "can": can, "operates": operates, "subject": subject, "next": next, "receiver": receiver, "handoffPath": handoffPath, "subjectPath": subjectPath,
	}).ParseFS(templateFiles, "templates/base.html", "templates/parts/*.html"))
	all := map[string]*template.Template{}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err) // embedded
	}
	for _, name := range names {
		short := strings.TrimSuffix(strings.TrimPrefix(name, "templates/"), ".html")
		if short != "base" {
			all[short] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, name))
		}
	}
	return all
}

// render returns a page. Templates escape all text; hidden characters, in whatever field they came, are shown by their number.
func render(name string, in page) ([]byte, error) {
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "base.html", in); err != nil {
		return nil, err
	}
	return []byte(visible.Document(b.String())), nil
}

func (p *pages) write(w http.ResponseWriter, status int, name string, in page) {
	in.Static = p.digest
	b, err := render(name, in)
	if err != nil {
		p.log.Error("a page cannot be shown", "page", name, "error", err)
		http.Error(w, "the page cannot be shown; the log of the server says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the browser is gone
}

// show answers with a page of a person who has signed in.
func (v *visit) show(w http.ResponseWriter, r *http.Request, name string, in page) error {
	var err error
	if in.Names, err = v.names(r.Context(), in.About); err != nil {
		return err
	}
	in.Path, in.Me, in.Key, in.Done = r.URL.RequestURI(), v.me, client.NewKey(), done(r)
	v.write(w, http.StatusOK, name, in)
	return nil
}

// dones are what a page can say that a person has done, by the value of the parameter did.
var dones = map[string]string{
	"approve": "Approved.", "deny": "Denied.", "answer": "Answered.", "claim": "Claimed: it is yours.", "release": "Released to its desk.", "withdraw": "Taken back.",
	"replay": "Replayed.", "discard": "Discarded.", "takeover": "Taken over: it was offered to the agent.", "readiness": "The agent's readiness is set.",
	"complete": "Completed.", "send": "Handed on: it is yours until a receiver accepts.", "cancel": "Cancelled, and its children with it.", "cancelall": "Cancelled, and their children with them.", "circuit": "The circuits of the agent are closed: handoffs go to it again.",
	"silence": "Silenced: people are not notified of it.", "unsilence": "The silence has ended.",
}

func done(r *http.Request) string { return dones[r.URL.Query().Get("did")] }

// refusedBody is a refusal. A form that has no page to come back on can be sent again, as after the person has signed in.
type refusedBody struct {
	*client.Error
	Again string // where the form goes; empty: there is none
	Sent  url.Values
	Wrote []string // what of it the person has written
}

// refuse shows a refusal, with what to do.
func (p *pages) refuse(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	p.refuseWith(w, r, v, err, refusedBody{})
}

// refuseForm answers a form that was refused with its page, on which the person goes on. Without such a page the refusal keeps what was sent.
func (p *pages) refuseForm(w http.ResponseWriter, r *http.Request, v *visit, err error) {
	if p.refill(w, r, err) {
		return
	}
	body := refusedBody{}
	if r.ParseForm() == nil {
		body = refusedBody{Again: r.URL.RequestURI(), Sent: r.PostForm, Wrote: refill.Written(r.PostForm)}
	}
	p.refuseWith(w, r, v, err, body)
}

func (p *pages) refuseWith(w http.ResponseWriter, r *http.Request, v *visit, err error, body refusedBody) {
	if r.Context().Err() != nil {
		return // the browser is gone
	}
	var refused *client.Error
	if !errors.As(err, &refused) {
		p.log.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "error", err)
		refused = &client.Error{Status: http.StatusInternalServerError, Code: client.Unavailable, Message: "the page cannot be shown", Hint: "the log of the server says why"}
	}
	body.Error = forPeople(refused)
	in := page{Title: "Not done", Body: body, Path: r.URL.Path}
	if r.Method == http.MethodGet {
		in.Title = "Not shown"
	}
	if v != nil {
		in.Me = v.me
	}
	p.write(w, max(refused.Status, http.StatusBadRequest), "refused", in)
}

// forPeople is a refusal in the words of the page, which itself has the way to sign in.
func forPeople(refused *client.Error) *client.Error {
	shown := *refused
	shown.Message, shown.Hint = human.Times(refused.Message), human.Times(refused.Hint)
	if refused == errNoSession {
		shown.Hint = ""
	}
	return &shown
}

// refill answers a form that was refused with its page. It reports false, and answers nothing, if the person sees none.
func (p *pages) refill(w http.ResponseWriter, r *http.Request, err error) bool {
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code == client.Unauthenticated {
		return false
	}
	refused = forPeople(refused)
	text, ok := refill.Page(p.mux, r, refused.Message, refused.Hint)
	if ok {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(max(refused.Status, http.StatusBadRequest))
		_, _ = w.Write([]byte(visible.Document(text))) // the browser is gone
	}
	return ok
}

// problem answers a program with a refusal in the form of the HTTP API.
func problem(w http.ResponseWriter, err error) {
	refused := &client.Error{Status: http.StatusInternalServerError, Code: client.Unavailable, Message: "no link can be made", Hint: "the log of the server says why"}
	errors.As(err, &refused)
	status := max(refused.Status, http.StatusBadRequest)
	answer(w, status, "application/problem+json", map[string]any{
		"type": "urn:trapeze:problem:" + string(refused.Code), "status": status, "code": refused.Code, "detail": refused.Message, "hint": refused.Hint,
	})
}

// answer answers a program.
func answer(w http.ResponseWriter, status int, media string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(b) // the program is gone
}

// subjectPath is the page of what a legal hold or an erasure names; empty: it has none.
func subjectPath(subject string) string {
	kind, id, _ := strings.Cut(subject, "/")
	at, ok := map[string]string{"task": "/tasks/", "memory": "/memory/", "conversation": "/conversations/"}[kind]
	if !ok {
		return ""
	}
	return at + url.PathEscape(id)
}

// acts reports whether a person may change anything: an auditor only reads.
func acts(me client.Me) bool { return me.Role != client.RoleAuditor }

// operates reports whether a person may act on everything: tasks, agents, dead letters and alerts.
func operates(me client.Me) bool { return acts(me) && me.Role != client.RoleAgent }

// can reports whether the reader may do something with a ticket now, as the server says.
func can(t client.Ticket, verb string) bool { return slices.Contains(t.Verbs, verb) }

// subject names a ticket: its question, or the task that is to be approved or taken over.
func subject(t client.Ticket) string {
	if t.Question == "" || t.Kind == "takeover" && t.Intent != "" {
		return t.Intent
	}
	return t.Question
}

// next is the number after one: people count from one.
func next(i int) int { return i + 1 }

func dict(pairs ...any) (map[string]any, error) {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("%v is not a name", pairs[i])
		}
		m[name] = pairs[i+1]
	}
	return m, nil
}
