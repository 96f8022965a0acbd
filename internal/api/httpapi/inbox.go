package httpapi

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/api/park"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

type inboxQuery struct {
	endpoint.Reading
	Agent  string `query:"agent" maxLength:"64" doc:"Agent whose inbox to read, for operators and auditors."`
	Beyond string `query:"after" maxLength:"100" doc:"Only items after this cursor, which an earlier answer gave. Others are omitted, and do not end the wait." example:"120"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number; 10 if omitted. The highest priority comes first, and of one priority each sender in turn. Without after, an offer that others have, too, and that one of them was shown less than a second ago, comes after the others of its priority. Without after, if there are more, every fourth is of the sender that has waited for its turn for the longest time, of whatever priority, and the next such call goes on with the turns, unless this one has peek. After a cursor, the oldest of a priority come first, and those of the same entry stay together. After a cursor, every fourth is the oldest of a lower priority that another sender has."`
	Wait   string `query:"wait" maxLength:"20" doc:"How long to wait for the first item, such as 30s; at most 55s. Without after, an agent that waits while others do is not shown the offers that others have, too, and that one of them was shown less than a second ago. Of the rest of those it is shown its share: as many as there are for each agent that waits in the workspace, and at least as many as it has room for." example:"30s"`
	Peek   bool   `query:"peek" doc:"Read without marking offers and notices as seen."`
	See    bool   `query:"see" doc:"Mark offers and notices as seen although the call does not wait, for a reader that answers them at once."`
}

// Inbox is a page of an inbox.
type Inbox struct {
	Items    []view.Item        `json:"items" doc:"Highest priority first."`
	Cursor   string             `json:"cursor" doc:"Parameter after for the next call, which returns newer items and those that the limit omitted, highest priority first."`
	Position positions.Position `json:"position" doc:"Every item up to this position of the record was in an answer."`
}

// At implements [endpoint.Placed].
func (i Inbox) At() positions.Position { return i.Position }

func (s *service) inbox() {
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/inbox", ID: "inbox", Summary: "Read the inbox of the caller, and optionally wait for an item",
		About: "An offer that an agent gets by a call with wait or see counts as seen, and its acknowledgment timeout starts: for as many as it may have tasks at a time or, without such a limit, for one after the other. A call with neither, or with peek, is a look at the list and starts nothing. Notices (taken, cancelled, parked, completed, failed) tell of what the agent did not cause; they leave the inbox once they are seen. An offer that is made again has a new position.", Tag: endpoint.TagInbox,
	}, s.lookIn)
}

func (s *service) lookIn(ctx context.Context, c caller.Caller, in *inboxQuery) (Inbox, error) {
	if in.Peek && in.See {
		return Inbox{}, refusal.New(refusal.Invalid, "omit one of them", "peek and see contradict each other")
	}
	after, err := view.ParseCursor(in.Beyond)
	if err != nil {
		return Inbox{}, err
	}
	return patiently(ctx, s, in.Wait, func(ctx context.Context, wait time.Duration) (Inbox, error) {
		ask := tasks.InboxInput{Agent: in.Agent, Limit: in.Limit, Wait: wait, Peek: in.Peek || wait <= 0 && !in.See, Aside: in.Peek, After: after}
		if place := park.From(ctx); place != nil && wait > 0 {
			changed, stop, err := s.app.Tasks.AwaitInbox(ctx, c, ask)
			if changed != nil {
				place.Take(changed, stop)
			}
			return Inbox{}, err
		}
		box, err := s.app.Tasks.Inbox(ctx, c, ask)
		return Inbox{Items: endpoint.NotNil(box.Items), Cursor: box.Next.String(), Position: box.Next.Least()}, err
	})
}
