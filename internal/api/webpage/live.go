package webpage

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/client"
)

const (
	beat   = 15 * time.Second       // between signs of life of a stream
	gather = 200 * time.Millisecond // changes that come within it are one

	maxTickets = 64 // of which a page is not told yet
)

// live tells a page that something changed, as server-sent events: in the task that it names, or anything; and of which tasks people get a ticket. It ends with the session, and says so: of a stream that is
// refused, browsers tell a page nothing but that there is none.
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
	changed, tickets, ended := make(chan struct{}, 1), make(chan string, maxTickets), make(chan error, 1)
	go func() { ended <- v.follow(ctx, shownAt(r, v.me), r.URL.Query().Get("task"), changed, tickets) }()
	s.begin()
	if s.send("retry: 1000\nid: "+strconv.FormatUint(v.me.Position, 10)+"\nevent: open\ndata:\n\n") != nil {
		return
	}
	still := time.NewTicker(beat)
	defer still.Stop()
	for v.sessions.lasts(v.session) {
		select {
		case <-changed:
			select { // what belongs together comes together
			case <-time.After(gather):
			case <-ctx.Done():
				return
			}
			err = s.send("event: change\ndata:\n\n")
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

// follow marks what changes after a position in a task, or anywhere, and sends the tasks of which people get a ticket.
func (v *visit) follow(ctx context.Context, after uint64, task string, changed chan<- struct{}, tickets chan<- string) error {
	return v.api.Events(ctx, after, func(e client.Event) error {
		if slices.ContainsFunc(e.Events, func(name string) bool { return slices.Contains(forPeopleNow, name) }) {
			select {
			case tickets <- e.ID:
			default: // a person does not read as many notices at once
			}
		}
		if task == "*" || e.ID == task {
			select {
			case changed <- struct{}{}:
			default: // one is waiting to be sent
			}
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
