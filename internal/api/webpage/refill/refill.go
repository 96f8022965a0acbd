package refill

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is the page that the form of a request is on, as it is now, with a refusal. It reports false if pages have none.
func Page(pages http.Handler, r *http.Request, message, hint string) (page string, ok bool) {
	again, err := http.NewRequestWithContext(r.Context(), http.MethodGet, formPath(r.URL), nil)
	if err != nil {
		return "", false
	}
	again.Header = r.Header.Clone()
	got := answered{header: http.Header{}, status: http.StatusOK}
	pages.ServeHTTP(&got, again)
	if got.status != http.StatusOK {
		return "", false
	}
	doc, err := html.Parse(&got.body)
	if err != nil {
		return "", false
	}
	putRefusal(doc, r, message, hint)
	var b strings.Builder
	err = html.Render(&b, doc)
	return b.String(), err == nil
}

// formPath is the page with the form that is sent to an address: /tickets/T/answer is on /tickets/T.
func formPath(at *url.URL) string {
	parts := strings.Split(at.EscapedPath(), "/") // the first is empty
	switch {
	case parts[1] == "alerts":
		return "/alerts"
	case len(parts) > 2:
		return "/" + parts[1] + "/" + parts[2]
	}
	return at.RequestURI()
}

// answered keeps an answer.
type answered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answered) Header() http.Header         { return a.header }
func (a *answered) WriteHeader(status int)      { a.status = status }
func (a *answered) Write(b []byte) (int, error) { return a.body.Write(b) }

// putRefusal puts an error into a page, and what was typed into the form that sent it. A page that no longer has the form has the text beside the error.
func putRefusal(doc *html.Node, r *http.Request, message, hint string) {
	box := element(atom.Section, "", "class", "problem", "role", "alert", "tabindex", "-1", "autofocus", "")
	say := element(atom.P, " "+message)
	say.InsertBefore(element(atom.Strong, "Not done:"), say.FirstChild)
	box.AppendChild(say)
	if hint != "" {
		box.AppendChild(element(atom.P, "What to do: "+hint))
	}
	var main, form *html.Node
	for n := range doc.Descendants() {
		switch {
		case attribute(n, "id") == "main":
			main = n
			setAttribute(n, "data-live", "", false) // its address is that of the form
		case n.DataAtom == atom.Form && sends(n, r.URL.RequestURI()) && (form == nil || len(fieldsFor(form, r.PostForm)) == 0):
			form = n
		}
	}
	if form != nil {
		for _, f := range fieldsFor(form, r.PostForm) {
			fillField(f, r.PostForm[attribute(f, "name")])
		}
		form.Parent.InsertBefore(box, form)
		return
	}
	for _, text := range Written(r.PostForm) {
		box.AppendChild(element(atom.P, "You wrote:"))
		box.AppendChild(element(atom.Pre, text))
	}
	main.InsertBefore(box, main.FirstChild)
}

// Written is what a person has written into a form, or has chosen as an answer.
func Written(form url.Values) (texts []string) {
	for _, name := range []string{"option", "answer", "detail", "result", "data", "ask", "state", "to", "capability", "route", "why", "reason"} {
		if text := form.Get(name); strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// sends reports whether a form, or a button of it, sends to an address.
func sends(form *html.Node, to string) bool {
	if attribute(form, "action") == to {
		return true
	}
	for n := range form.Descendants() {
		if attribute(n, "formaction") == to {
			return true
		}
	}
	return false
}

// fieldsFor are the fields of a form that a person sees and that have a value among those sent.
func fieldsFor(form *html.Node, sent url.Values) (all []*html.Node) {
	for n := range form.Descendants() {
		field := n.DataAtom == atom.Input && attribute(n, "type") != "hidden" || n.DataAtom == atom.Textarea || n.DataAtom == atom.Select
		if field && sent.Has(attribute(n, "name")) {
			all = append(all, n)
		}
	}
	return all
}

// fillField gives a field the values that were sent for it. A text that is not what the page has is in sight.
func fillField(field *html.Node, values []string) {
	switch {
	case field.DataAtom == atom.Textarea:
		if strings.Join(strings.Fields(text(field)), " ") != strings.Join(strings.Fields(values[0]), " ") {
			unfold(field)
		}
		for field.FirstChild != nil {
			field.RemoveChild(field.FirstChild)
		}
		field.AppendChild(&html.Node{Type: html.TextNode, Data: values[0]})
	case field.DataAtom == atom.Select:
		for n := range field.Descendants() {
			if n.DataAtom == atom.Option {
				setAttribute(n, "selected", "", slices.Contains(values, attribute(n, "value")))
			}
		}
	case attribute(field, "type") == "checkbox":
		setAttribute(field, "checked", "", slices.Contains(values, attribute(field, "value")))
	default:
		setAttribute(field, "value", values[0], true)
	}
}

func text(n *html.Node) (s string) {
	for c := range n.Descendants() {
		s += c.Data
	}
	return s
}

// unfold opens what a node is folded into.
func unfold(n *html.Node) {
	for a := range n.Ancestors() {
		if a.DataAtom == atom.Details {
			setAttribute(a, "open", "", true)
		}
	}
}

// element returns an element with a text and attributes, which are names and values in turn.
func element(name atom.Atom, text string, attributes ...string) *html.Node {
	n := &html.Node{Type: html.ElementNode, DataAtom: name, Data: name.String()}
	for i := 0; i+1 < len(attributes); i += 2 {
		setAttribute(n, attributes[i], attributes[i+1], true)
	}
	if text != "" {
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	}
	return n
}

// attribute is the value of an attribute; empty: there is none.
func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// setAttribute sets an attribute, or removes it.
func setAttribute(n *html.Node, name, value string, on bool) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if on {
		n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
	}
}
