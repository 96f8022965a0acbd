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

	// mostWatched is how many resources one session may be subscribed to.
	mostWatched = 100
	// gather is how long changes are gathered before they are told: no resource is told of more often.
	gather = 200 * time.Millisecond
	// The pauses before a stream of events that was refused is asked for again.
	firstPause, longestPause = 2 * time.Second, time.Minute
)

// watcher tells the sessions of one principal that what they have subscribed to has changed.
type watcher struct {
	client *client.Client
	server *mcp.Server

	mu    sync.Mutex
	by    map[*mcp.ServerSession]map[string]bool
	stop  context.CancelFunc // of the follower; nil: nobody is subscribed
	dirty map[string]bool    // to be told
	bell  chan struct{}      // rings when dirty has something
	inbox string             // as it was last told
}

// subscribe refuses what cannot be read, and what does not change by events.
func (w *watcher) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	from, err := w.position(ctx) // before it is looked at: what happens after that is told
	if err != nil {
		return refused(ctx, uri, err)
	}
	inbox := ""
	switch id, isTask := strings.CutPrefix(uri, taskURI); {
	case uri == inboxURI:
		inbox, err = w.look(ctx)
	case isTask && anID.MatchString(id) && strings.Trim(id, ".") != "":
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
			_ = req.Session.Wait() // however it ends
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
		following, stop := context.WithCancel(context.Background()) // it is of no call: the next may be made with another token
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

// rest ends the following when nobody is subscribed to anything. The caller holds mu.
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

// watched reports whether anybody is subscribed to a resource. The caller holds mu.
func (w *watcher) watched(uri string) bool {
	for _, uris := range w.by {
		if uris[uri] {
			return true
		}
	}
	return false
}

// position is where the record is now.
func (w *watcher) position(ctx context.Context) (uint64, error) {
	page, err := w.client.Tasks(ctx, client.TaskFilter{Limit: 1})
	return page.Position, err
}

// look is what the inbox holds, in short.
func (w *watcher) look(ctx context.Context) (string, error) {
	box, err := w.client.Inbox(ctx, client.InboxOptions{Peek: true, Limit: mostRows})
	var b strings.Builder
	for _, i := range box.Items {
		fmt.Fprintf(&b, "%s %s %d\n", i.Type, i.ID, i.Offer)
	}
	return b.String(), err
}

// follow takes note of what happens after a position. The client rides out servers that are away, and goes on where it was;
// a server that does not know the target any more, or has no stream to spare, is asked again, and everything is told of once.
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
		if errors.Is(err, client.Unauthenticated) { // and so will be everything else
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

// giveUp makes the next to subscribe begin again.
func (w *watcher) giveUp(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil { // it is still this one that follows
		w.stop = nil
	}
}

// noteAll marks all that anybody is subscribed to as changed.
func (w *watcher) noteAll() {
	w.mu.Lock()
	w.inbox = "not looked at"
	var all []string
	for _, uris := range w.by {
		all = slices.AppendSeq(all, maps.Keys(uris))
	}
	w.mu.Unlock()
	w.note(all...)
}

// note marks resources as changed, if anybody is subscribed to them.
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

// tell tells of changes, gathered for a moment. Of the inbox it tells only if it holds something else.
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
				_ = w.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // a hint
			}
		}
	}
}

// other reports whether the inbox holds something else than before.
func (w *watcher) other(ctx context.Context) bool {
	now, err := w.look(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || now == w.inbox {
		return err != nil && ctx.Err() == nil // whoever looks will see
	}
	w.inbox = now
	return true
}
