package resource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

const (
	inboxURI = "trapeze://inbox"
	taskURI  = "trapeze://task/"

	// mostWatched is the maximum number of subscriptions of a session.
	mostWatched = 100
	// gather is how long changes are collected before a notification: the minimum interval of notifications of a resource.
	gather = 200 * time.Millisecond
	// The pauses before a refused stream of events is requested again.
	firstPause, longestPause = 2 * time.Second, time.Minute
)

// watcher notifies the sessions of one principal of changes of the resources that they subscribe to.
type watcher struct {
	client *client.Client
	server *mcp.Server

	mu    sync.Mutex
	by    map[*mcp.ServerSession]map[string]bool
	stop  context.CancelFunc // ends following the events; nil if there is no subscription
	dirty map[string]bool    // changed, and not notified yet
	bell  chan struct{}      // signals that dirty is not empty
	inbox string             // its content at the last notification
}

// subscribe refuses resources that the caller cannot read, and those without events.
func (w *watcher) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	from, err := w.position(ctx) // before the read, so that every later change is notified
	if err != nil {
		return refused(ctx, uri, err)
	}
	inbox := ""
	switch id, isTask := strings.CutPrefix(uri, taskURI); {
	case uri == inboxURI:
		inbox, err = w.look(ctx)
	case isTask && isID(id) && strings.Trim(id, ".") != "":
		_, err = w.client.Task(ctx, id)
	default:
		return invalid("%.80q cannot be subscribed to; %s and %sID can", uri, inboxURI, taskURI)
	}
	if err != nil {
		return refused(ctx, uri, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	mine, known := w.by[req.Session]
	switch {
	case mine[uri] && w.stop != nil:
		return nil
	case !mine[uri] && len(mine) >= mostWatched:
		return invalid("a session can be subscribed to at most %d resources", mostWatched)
	case !known:
		mine = map[string]bool{}
		w.by[req.Session] = mine
		go func() {
			_ = req.Session.Wait() // for any reason
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.by, req.Session)
			w.rest()
		}()
	}
	if uri == inboxURI && !w.watched(uri) {
		w.inbox = inbox
	}
	mine[uri] = true
	if w.stop == nil {
		following, stop := context.WithCancel(context.Background()) // not tied to a call: the next call may bring another token
		w.stop, w.dirty, w.bell = stop, map[string]bool{}, make(chan struct{}, 1)
		go w.follow(following, stop, from)
		go w.tell(following, w.bell)
	}
	return nil
}

func (w *watcher) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.by[req.Session], req.Params.URI)
	w.rest()
	return nil
}

// rest stops following events when there is no subscription left. The caller holds mu.
func (w *watcher) rest() {
	for _, uris := range w.by {
		if len(uris) > 0 {
			return
		}
	}
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// watched reports whether a session subscribes to a resource. The caller holds mu.
func (w *watcher) watched(uri string) bool {
	for _, uris := range w.by {
		if uris[uri] {
			return true
		}
	}
	return false
}

// position returns the current position of the record.
func (w *watcher) position(ctx context.Context) (uint64, error) {
	page, err := w.client.Tasks(ctx, client.TaskFilter{Limit: 1})
	return page.Position, err
}

// look returns a summary of the content of the inbox.
func (w *watcher) look(ctx context.Context) (string, error) {
	box, err := w.client.Inbox(ctx, client.InboxOptions{Peek: true, Limit: mostRows})
	var b strings.Builder
	for _, i := range box.Items {
		fmt.Fprintf(&b, "%s %s %d\n", i.Type, i.ID, i.Offer)
	}
	return b.String(), err
}

// follow notes changes after a position. The client reconnects to a server that restarts, and resumes there. If the server no longer
// knows the position, or has too many streams open, follow starts again from now and marks every subscribed resource as changed.
func (w *watcher) follow(ctx context.Context, stop context.CancelFunc, after uint64) {
	defer stop()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := w.client.Events(ctx, after, func(e client.Event) error {
			if e.Kind == "task" {
				w.note(taskURI+e.ID, inboxURI)
			}
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, client.Unauthenticated) { // and so are all other calls
			w.giveUp(ctx)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if now, err := w.position(ctx); err == nil {
			after = now
			w.noteAll()
		}
	}
}

// giveUp lets the next subscription follow the events again.
func (w *watcher) giveUp(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil { // no other follower has started
		w.stop = nil
	}
}

// noteAll marks all subscribed resources as changed.
func (w *watcher) noteAll() {
	w.mu.Lock()
	w.inbox = "not read"
	var all []string
	for _, uris := range w.by {
		all = slices.AppendSeq(all, maps.Keys(uris))
	}
	w.mu.Unlock()
	w.note(all...)
}

// note marks resources as changed, if a session subscribes to them.
func (w *watcher) note(uris ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uri := range uris {
		if w.watched(uri) {
			w.dirty[uri] = true
		}
	}
	if len(w.dirty) > 0 {
		select {
		case w.bell <- struct{}{}:
		default:
		}
	}
}

// tell sends notifications of changes, collected for gather. For the inbox it sends one only if its content has changed.
func (w *watcher) tell(ctx context.Context, bell <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-bell:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		w.mu.Lock()
		changed := slices.Sorted(maps.Keys(w.dirty))
		clear(w.dirty)
		w.mu.Unlock()
		for _, uri := range changed {
			if uri != inboxURI || w.other(ctx) {
				_ = w.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // best effort
			}
		}
	}
}

// other reports whether the content of the inbox has changed.
func (w *watcher) other(ctx context.Context) bool {
	now, err := w.look(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || now == w.inbox {
		return err != nil && ctx.Err() == nil // on an error, assume a change
	}
	w.inbox = now
	return true
}
