package handoff

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// Reject rejects an offer. The next candidate gets one, or the task stays with its source.
type Reject struct {
	By      identity.Principal
	Handoff int
	Offer   int
	Reason  event.Rejection
	Missing []string // fields that the receiver would need; with MissingContext
	Detail  string
	Hints   Hints
}

func (c Reject) decide(t task.Task, now time.Time) ([]event.Event, error) {
	d := decision{t: t}
	h, err := d.offered(c.By.Agent(), c.Handoff, c.Offer, now)
	if no, is := refusal.As(err); is && no.Code == refusal.Expired && c.By.Agent() == t.Owner {
		return nil, no.Hinting("go on with it, or [hand it off](send), also to the agent that sent it", t.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	d.do(event.RejectedOffer{Handoff: h.N, Offer: h.Offer, Agent: c.By.Agent(), Why: c.Reason, Missing: c.Missing, Detail: c.Detail})
	if d.t.Handoff.Stage == event.Requested {
		d.nextOrEnd(failure{why: c.outcome(), rejected: true}, nil, c.Hints, now)
	}
	return d.events, nil
}

func (c Reject) check() error {
	switch {
	case c.Reason == "":
		return refusal.New(refusal.Invalid, "say not_capable, overloaded, missing_context or refused", "a rejection needs a reason")
	case c.Reason == event.MissingContext && len(c.Missing) == 0:
		return refusal.New(refusal.Invalid, "[name the missing fields](.missing)", "the reason missing_context needs the names of the missing fields").With("field", "missing")
	}
	return firstError(refusal.In("missing", event.CheckMissing(c.Missing)), event.CheckField("detail", c.Detail))
}

// outcome names the agent that rejected the offer and its reason, for the source.
func (c Reject) outcome() string {
	s := c.By.Agent() + " turned it down: " + strings.ReplaceAll(string(c.Reason), "_", " ")
	if len(c.Missing) > 0 {
		s += " (" + strings.Join(c.Missing, ", ") + ")"
	}
	if c.Detail != "" {
		s += ": " + c.Detail
	}
	return quoted(s)
}

// maxRepeated bounds the quotation of a message in an outcome, in bytes; the whole message is an event of its own.
const maxRepeated = 500

// quoted is a message as an outcome quotes it.
func quoted(s string) string {
	if len(s) > maxRepeated {
		s = strings.ToValidUTF8(s[:maxRepeated], "") + "…"
	}
	return s
}
