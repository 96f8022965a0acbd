package form

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// Discard returns why dead letters are discarded.
func Discard(r *http.Request) (why string, err error) {
	why = r.PostFormValue("why")
	if strings.TrimSpace(why) == "" {
		return "", Invalid("it is not said why they are discarded", "write the reason into the note")
	}
	return why, nowhere(r)
}

// Replay returns how each of the dead letters that were chosen is replayed.
func Replay(r *http.Request) (of func(id string) client.ReplayInput, err error) {
	if err := changedAlone(r); err != nil {
		return nil, err
	}
	if err := oneWay(r); err != nil {
		return nil, err
	}
	in := client.ReplayInput{To: Names(r.PostFormValue("to")), Capability: r.PostFormValue("capability"), Note: r.PostFormValue("why"), Home: r.PostFormValue("home") != "", Content: Instead(r)}
	if text := r.PostFormValue("tokens"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, Invalid(fmt.Sprintf("the budget %.20q is not a number of tokens", text), "give a whole number, or leave it empty")
		}
		in.Budget.Tokens = n
	}
	all := Names(r.PostFormValue("route"))
	return func(id string) client.ReplayInput {
		in := in
		if in.Route = all; len(all) == 0 {
			in.Route = routeOf(r, id)
		}
		return in
	}, nil
}

// ways are where dead letters go instead of where each was sent, by the field that says it.
var ways = []struct{ field, name string }{
	{"to", "to the agents that are named"}, {"capability", "to a capability"}, {"route", "along another route"}, {"home", "back to their owner"},
}

// oneWay refuses a form that says several ways to go.
func oneWay(r *http.Request) error {
	var said []string
	for _, w := range ways {
		if strings.TrimSpace(r.PostFormValue(w.field)) != "" {
			said = append(said, w.name)
		}
	}
	if len(said) > 1 {
		return Invalid("they cannot go "+strings.Join(said, " and "), "leave one of these, and empty the others")
	}
	if id := rerouted(r); id != "" && r.PostFormValue("route") != "" {
		return Invalid(fmt.Sprintf("the route of %.80s was changed, and all are to go along another", id), "give it its route again, or leave the other empty")
	}
	return nil
}

// nowhere refuses a form that says where what is discarded goes: it might have been meant to be replayed.
func nowhere(r *http.Request) error {
	for _, w := range append(ways[:len(ways):len(ways)], struct{ field, name string }{"tokens", "on with a new budget"}, struct{ field, name string }{"ask", "on with a new ask"}, struct{ field, name string }{"answered", "on without the open questions"}) {
		if strings.TrimSpace(r.PostFormValue(w.field)) != "" {
			return Invalid("what is discarded does not go "+w.name, "replay them, or empty that field")
		}
	}
	if id := rerouted(r); id != "" {
		return Invalid(fmt.Sprintf("the route of %.80s was changed, and what is discarded goes along none", id), "replay it, or give it its route again")
	}
	return nil
}

// rerouted is a dead letter whose route the person has changed; empty: there is none.
func rerouted(r *http.Request) string {
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		if id, ok := strings.CutPrefix(name, "route-"); ok && routeOf(r, id) != nil {
			return id
		}
	}
	return ""
}

// routeOf is the route of a dead letter as the person has changed it: nil, if not; empty, if it is to have none.
func routeOf(r *http.Request, id string) []string {
	route := Names(r.PostFormValue("route-" + id))
	if slices.Equal(route, Names(r.PostFormValue("was-"+id))) {
		return nil
	}
	return append([]string{}, route...)
}

// changedAlone refuses a route that was changed of a dead letter that is not chosen: it would be lost.
func changedAlone(r *http.Request) error {
	for name := range r.PostForm {
		id, ok := strings.CutPrefix(name, "route-")
		if ok && routeOf(r, id) != nil && !slices.Contains(r.PostForm["task"], id) {
			return Invalid(fmt.Sprintf("the route of %.80s was changed, and it is not chosen", id), "choose it, too, or give it its route again")
		}
	}
	return nil
}
