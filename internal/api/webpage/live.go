package webpage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
)

const (
	beat   = 15 * time.Second       // between signs of life of a stream
	gather = 200 * time.Millisecond // changes that come within it are one

	maxTickets = 64 // of which a page is not told yet
	maxChanged = 64 // ids of what changed that a page is told at once; of more it is told that anything may have
)

// What a page follows, beside the ids of tasks, agents, memory items and conversations.
const (
	everything = "*"
	marks      = "erasure/current" // legal holds and erasures
)

// following is what a page follows, in a word for each.
func following(of ...string) string {
	of = slices.Compact(slices.Sorted(slices.Values(of)))
	return strings.Join(slices.DeleteFunc(of, func(id string) bool { return id == "" }), " ")
}

// live tells a page what changed, as server-sent events: of what it names, or anything; and of which tasks people get a ticket. It ends with
// the session, and says so: of a stream that is refused, browsers tell a page nothing but that there is none.
func (p *pages) live(w http.ResponseWriter, r *http.Request) {
	s := stream{w: w, control: http.NewResponseController(w)}
	over := p.sessions.anyEnd()
	v, err := p.enter(r)
	if errors.Is(err, client.Unauthenticated) {
		s.begin()
		_ = s.send(sessionEnd) // it ends either way
		return
	} else if err != nil {
		problem(w, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	changed, tickets, ended := changes{some: make(chan struct{}, 1)}, make(chan string, maxTickets), make(chan error, 1)
	go func() {
		ended <- v.follow(ctx, shownAt(r, v.me), strings.Fields(r.URL.Query().Get("task")), &changed, tickets)
	}()
	s.begin()
	if s.send("retry: 1000\nid: "+strconv.FormatUint(v.me.Position, 10)+"\nevent: open\ndata:\n\n") != nil {
		return
	}
	still := time.NewTicker(beat)
	defer still.Stop()
	for v.sessions.lasts(v.session) {
		select {
		case <-changed.some:
			select { // what belongs together comes together
			case <-time.After(gather):
			case <-ctx.Done():
				return
			}
			err = s.send("event: change\ndata: " + changed.take() + "\n\n")
		case task := <-tickets:
			err = s.send("event: ticket\ndata: " + task + "\n\n")
		case <-still.C:
			err = s.send(": alive\n\n")
		case <-over:
			over = p.sessions.anyEnd()
		case err := <-ended:
			switch {
			case errors.Is(err, client.Unauthenticated):
				_ = s.send(sessionEnd)
			case errors.Is(err, client.Limit): // a browser would be back in a second
				_ = s.send("event: full\ndata:\n\n")
			}
			return
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
	_ = s.send(sessionEnd)
}

// shownAt is the position from which a stream follows: that at which the page was shown. A browser that calls again, which it says with the id of what it was told,
// has the page look again once the stream is open: it follows from now on.
func shownAt(r *http.Request, now client.Me) uint64 {
	n, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
	if err != nil || n > now.Position || r.Header.Get("Last-Event-ID") != "" {
		return now.Position
	}
	return n
}

// changes are the ids of what changed, until a page is told.
type changes struct {
	some chan struct{} // has a value if there are any

	mu  sync.Mutex
	ids map[string]bool
}

func (c *changes) add(id string) {
	c.mu.Lock()
	if c.ids == nil {
		c.ids = map[string]bool{}
	}
	if len(c.ids) <= maxChanged {
		c.ids[id] = true
	}
	c.mu.Unlock()
	select {
	case c.some <- struct{}{}:
	default: // the page is about to be told
	}
}

// take returns the ids in order, with blanks between them: "*" if there are too many.
func (c *changes) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := slices.Sorted(maps.Keys(c.ids))
	if c.ids = nil; len(ids) > maxChanged {
		return "*"
	}
	return strings.Join(ids, " ")
}

// follow notes what changes after a position, of what is named or, with "*", anywhere; and sends the tasks of which people get a ticket.
func (v *visit) follow(ctx context.Context, after uint64, named []string, changed *changes, tickets chan<- string) error {
	return v.api.Events(ctx, after, func(e client.Event) error {
		if slices.ContainsFunc(e.Events, func(name string) bool { return slices.Contains(forPeopleNow, name) }) {
			select {
			case tickets <- e.ID:
			default: // a person does not read as many notices at once
			}
		}
		if slices.ContainsFunc([]string{everything, e.ID, e.Kind + "/" + e.ID}, func(id string) bool { return slices.Contains(named, id) }) {
			changed.add(e.ID)
		}
		return nil
	})
}

// forPeopleNow are the events by which people of a desk get a ticket.
var forPeopleNow = []string{"ticket-opened", "approval-asked", "ticket-escalated"}

// sessionEnd tells a page that nobody is signed in any more.
const sessionEnd = "event: end\ndata:\n\n"

// stream writes server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s stream) begin() {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("X-Accel-Buffering", "no") // for proxies
	_ = s.control.SetReadDeadline(time.Time{})
}

func (s stream) send(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(beat))
	if _, err := fmt.Fprint(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}
