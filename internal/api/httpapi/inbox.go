package httpapi

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

type inboxQuery struct {
	endpoint.Reading
	Agent  string `query:"agent" maxLength:"64" doc:"Agent whose inbox to read, for operators and auditors."`
	Beyond uint64 `query:"after" doc:"Only items after this position, which an earlier answer gave. Older items are omitted, and do not end the wait."`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number; 10 if omitted. With after: the oldest items, and items of the same entry stay together."`
	Wait   string `query:"wait" maxLength:"20" doc:"How long to wait for the first item, such as 30s; at most 55s." example:"30s"`
	Peek   bool   `query:"peek" doc:"Read without marking offers as seen."`
}

// Inbox is a page of an inbox.
type Inbox struct {
	Items    []view.Item `json:"items" doc:"Highest priority first."`
	Position uint64      `json:"position" doc:"Parameter after for the next call, which returns newer items and those that the limit omitted."`
}

// At implements [door.Placed].
func (i Inbox) At() uint64 { return i.Position }

func (s *service) inbox() {
	endpoint.Read(s.door, endpoint.Route{
		Path: "/v1/inbox", ID: "inbox", Summary: "Read the inbox of the caller, and optionally wait for an item",
		About: "An offer that an agent reads here counts as seen, and its acknowledgment timeout starts. An offer that is made again has a new position.", Tag: endpoint.TagInbox,
	}, s.lookIn)
}

func (s *service) lookIn(ctx context.Context, c caller.Caller, in *inboxQuery) (Inbox, error) {
	return patiently(ctx, s, in.Wait, func(ctx context.Context, wait time.Duration) (Inbox, error) {
		ask := tasks.InboxInput{Agent: in.Agent, Limit: in.Limit, Wait: wait, Peek: in.Peek}
		endpoint.SetPosition(&ask.After, in.Beyond)
		box, err := s.app.Tasks.Inbox(ctx, c, ask)
		return Inbox{Items: endpoint.NotNil(box.Items), Position: uint64(box.At)}, err
	})
}

// patiently serves a call that may wait. It ends when the token of the caller becomes invalid.
func patiently[O any](ctx context.Context, s *service, wait string, serve func(ctx context.Context, wait time.Duration) (O, error)) (out O, err error) {
	var long event.Duration
	if wait != "" {
		if err := long.UnmarshalText([]byte(wait)); err != nil {
			return out, err
		}
	}
	if long <= 0 {
		return serve(ctx, time.Duration(long))
	}
	endpoint.Patient(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go s.endWithToken(ctx, cancel)
	out, err = serve(ctx, time.Duration(long))
	if over := endpoint.Still(ctx); over != nil {
		var none O
		return none, over
	}
	return out, err
}

// endWithToken ends a call when its token has expired or was revoked, at most one heartbeat later.
func (s *service) endWithToken(ctx context.Context, end context.CancelFunc) {
	beat := time.NewTicker(s.opts.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if endpoint.Still(ctx) != nil {
				end()
			}
		case <-ctx.Done():
			return
		}
	}
}
