package tasks

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// MaxWait is the longest that a call may wait for an inbox: shorter than the usual client timeouts.
const MaxWait = 55 * time.Second

// An inbox of which others have just taken all that was to be shown is read again after takenPause, then after twice as long, up to longestPause.
const (
	takenPause   = 20 * time.Millisecond
	longestPause = time.Second

	// An inbox with nothing but what others have first is read again when the first of that is everybody's, and then after longestPause, and after twice as
	// long, up to longestHeld: what nobody takes wakes more and more by itself, and many wait.
	longestHeld = 4 * time.Second
)

// InboxInput asks what waits for an agent.
type InboxInput struct {
	Agent string        // whose inbox; operators and auditors only. Empty: the caller's own
	After view.Cursor   // only what came after this: Next of an earlier answer. Zero: all that waits
	Limit int           // at most this many items; 0 means 10
	Wait  time.Duration // how long to wait for the first item; 0: not at all
	Peek  bool          // look without taking note: nothing counts as seen
	Aside bool          // take no turn: the next page has the same senders
}

// Inbox lists what waits for the caller, highest priority first, and waits for it if asked to. An offer that an agent
// gets here counts as seen, and its acknowledgment clock runs, for as many as the agent has room for by its limit of tasks; without one, for one after the other. A notice that it gets
// counts as seen, and leaves the inbox. Who takes one page after another from the beginning serves the senders in turn. Of many who look at once, each
// is shown another claim first; of many who wait, each is shown its share of the claims and, for a second, nobody else is: see [Tasks.share]. Operators see
// the approvals that anybody may give; looking into another's inbox, or with a token that may only look, changes nothing. A look is recorded if there
// is something in it: of an agent into its own inbox as the list of what it does not see now for the first time, once a minute.
// Who goes on after the answer's Next gets what it was not told of, most urgent first; an offer that is made again has come again.
func (ts *Tasks) Inbox(ctx context.Context, c caller.Caller, in InboxInput) (view.Inbox, error) {
	if err := ts.checkInbox(ctx, c, &in); err != nil {
		return view.Inbox{}, ts.access.Refused(ctx, c.Workspace, c.Actor(), "inbox", in.Agent, err)
	}
	own, changed, stop, err := ts.watchInbox(ctx, c, in)
	if err != nil {
		return view.Inbox{}, err
	}
	defer stop()
	deadline := time.NewTimer(in.Wait)
	defer deadline.Stop()
	shares := own && in.Wait > 0 && in.After == (view.Cursor{})
	pause, held := takenPause, time.Duration(0)
	for {
		box, listed, until, err := ts.look(ctx, c, in, shares)
		if err != nil {
			return view.Inbox{}, err
		}
		if own && !in.Aside && box.Partial {
			ts.turns.Take(c.Workspace, in.Agent, box.Senders)
		}
		if box.Items, err = ts.read(ctx, c, in, own && !in.Peek, box.Items); err != nil {
			return view.Inbox{}, err
		}
		if len(box.Items) > 0 || in.Wait <= 0 {
			return box, nil
		}
		var again <-chan time.Time
		switch {
		case listed: // others have taken all of these, and there may be more behind them
			again, pause = time.After(pause), min(2*pause, longestPause)
		case !until.IsZero(): // others have them first
			again, held = time.After(max(until.Sub(ts.now()), held)), min(max(2*held, longestPause), longestHeld)
		}
		select {
		case <-changed:
		case <-again:
		case <-deadline.C:
			return box, nil
		case <-ctx.Done():
			return view.Inbox{}, stream.Unavailable(ctx.Err())
		}
	}
}

// read records that the caller reads items, which show what tasks are about. That an agent has seen an offer or a notice is a record of it.
func (ts *Tasks) read(ctx context.Context, c caller.Caller, in InboxInput, see bool, items []view.Item) ([]view.Item, error) {
	if in.Agent != c.Agent() {
		if len(items) == 0 {
			return items, nil
		}
		return items, ts.access.ReadAll(ctx, c.Workspace, c.Actor(), "", "inbox", []string{in.Agent})
	}
	before := map[string]bool{} // seen by an earlier call
	for _, item := range items {
		before[item.ID] = item.Seen
	}
	if see {
		var err error
		if items, err = ts.markSeen(ctx, c, items); err != nil {
			return nil, err
		}
	}
	var looked []string
	for _, item := range items {
		if !item.Seen || before[item.ID] {
			looked = append(looked, item.ID)
		}
	}
	return items, ts.access.ReadList(ctx, c.Workspace, c.Actor(), "inbox", looked)
}

func (ts *Tasks) checkInbox(ctx context.Context, c caller.Caller, in *InboxInput) error {
	if err := c.May(identity.ReadOwn, "read an inbox"); err != nil {
		return err
	}
	given := in.Agent
	agent, err := ts.agentStore.Identity(ctx, c.Workspace, given)
	if err != nil {
		return err
	}
	in.Agent, in.Limit = cmp.Or(agent, c.Agent()), cmp.Or(in.Limit, 10)
	if in.Agent != c.Agent() {
		if err := c.May(identity.ReadAny, "look into another's inbox"); err != nil {
			return err
		}
		if f, err := ts.agentStore.Find(ctx, c.Workspace, given, false); err != nil || f.Name == "" {
			return cmp.Or(err, ts.agentStore.Unknown(ctx, c.Workspace, given))
		}
	}
	if err := view.CheckLimit(in.Limit); err != nil {
		return err
	}
	if in.Wait < 0 || in.Wait > MaxWait {
		return refusal.New(refusal.Invalid, "use 0s to 55s and call again when it is over", "a wait of %s is out of range", in.Wait).With("field", "wait")
	}
	return ts.positions.Check(ctx, in.After.Newest())
}

// oneByOne is how many offers wait for the answer of an agent without a limit of tasks at a time: it answers one after the other, and a model takes longer
// for all of a list than an acknowledgment clock runs.
const oneByOne = 1

// markSeen notes that the agent has the offers before it, as far as it has room for them, and its notices. It leaves out those
// that are gone by now. On a full disk it notes nothing: no clock runs for answers that could not be recorded either.
func (ts *Tasks) markSeen(ctx context.Context, c caller.Caller, items []view.Item) ([]view.Item, error) {
	room, err := ts.agentStore.Room(ctx, c.Workspace, c.Agent(), oneByOne)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if item.Type == view.ItemOffer && item.Seen && room > 0 {
			room-- // it may yet be accepted
		}
	}
	var wg sync.WaitGroup
	errs := make([]error, len(items))
	for i := range items {
		if items[i].Type.Notice() {
			wg.Go(func() { errs[i] = ts.seeNotice(ctx, c, &items[i]) })
			continue
		}
		if items[i].Type != view.ItemOffer || items[i].Seen || room == 0 {
			continue
		}
		room--
		if items[i].Claim {
			ts.turns.Hold(c.Workspace, c.Agent(), items[i].ID)
		}
		wg.Go(func() { errs[i] = ts.see(ctx, c, &items[i]) })
	}
	wg.Wait()
	kept := items[:0]
	for i, item := range items {
		if gone := refusal.CodeOf(errs[i]); gone == refusal.Expired || gone == refusal.NotFound || gone == refusal.Conflict {
			continue // between the list and now
		}
		if err := errs[i]; err != nil && !errors.Is(err, ledger.ErrFull) {
			return nil, err
		}
		kept = append(kept, item)
	}
	return kept, nil
}

func (ts *Tasks) see(ctx context.Context, c caller.Caller, item *view.Item) error {
	taskID, n, err := event.ParseHandoffID(item.ID)
	if err != nil {
		return err
	}
	out, err := ts.store.Decide(ctx, c.WithKey(""), "see", taskID, nil, func(t task.Task, now time.Time) ([]event.Event, error) {
		return handoff.Decide(t, handoff.See{Agent: c.Agent(), Handoff: n, Offer: item.Offer}, now)
	})
	if err != nil {
		return err
	}
	item.Seen = true
	if h := out.State.Handoff; h != nil && !h.AckEnds.IsZero() {
		item.Ends = h.AckEnds
	}
	return nil
}
