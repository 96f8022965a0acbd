package event

import (
	"cmp"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// MinAck is the shortest acknowledgment clock that a call may ask for: less than a program needs to read an offer and answer it would
// count failures against receivers that work.
const MinAck = 5 * time.Second

// Timeouts are how long the clocks of a task and its handoffs run. Zero fields mean the default.
type Timeouts struct {
	Offer    Duration `json:"offer,omitzero"`    // of an offer that nobody has seen; default 10m
	Ack      Duration `json:"ack,omitzero"`      // from seen to answered; default 15s, at least [MinAck]
	Approval Duration `json:"approval,omitzero"` // of a supervised handoff; default 24h
	Answer   Duration `json:"answer,omitzero"`   // of people: for an answer, or to take a task over, per desk; of a requester, to take up a task that came back; default 24h
	Confirm  Duration `json:"confirm,omitzero"`  // of an explicit confirm; default 1m
	Lease    Duration `json:"lease,omitzero"`    // of an owner that sends no sign of life; default 30m
	Progress Duration `json:"progress,omitzero"` // of an owner that reports no progress; default: no end
	Wait     Duration `json:"wait,omitzero"`     // of a parent that waits for children; default: no end
}

var defaultTimeouts = Timeouts{
	Offer:    Duration(10 * time.Minute),
	Ack:      Duration(15 * time.Second),
	Approval: Duration(24 * time.Hour),
	Answer:   Duration(24 * time.Hour),
	Confirm:  Duration(time.Minute),
	Lease:    Duration(30 * time.Minute),
}

// WithDefaults sets the fields that are zero to their defaults.
func (t Timeouts) WithDefaults() Timeouts {
	return t.Over(defaultTimeouts)
}

// Over returns t with the fields of base where those of t are zero.
func (t Timeouts) Over(base Timeouts) Timeouts {
	t.Offer = cmp.Or(t.Offer, base.Offer)
	t.Ack = cmp.Or(t.Ack, base.Ack)
	t.Approval = cmp.Or(t.Approval, base.Approval)
	t.Answer = cmp.Or(t.Answer, base.Answer)
	t.Confirm = cmp.Or(t.Confirm, base.Confirm)
	t.Lease = cmp.Or(t.Lease, base.Lease)
	t.Progress = cmp.Or(t.Progress, base.Progress)
	t.Wait = cmp.Or(t.Wait, base.Wait)
	return t
}

// People is how long people have to take an offer, and to work on a task that they took. Tasks of older records do not have it.
func (t Timeouts) People() Duration { return cmp.Or(t.Answer, defaultTimeouts.Answer) }

// CheckAsked is [Timeouts.Check] for what a call asks for: it also refuses an acknowledgment clock under [MinAck], which older records may have.
func (t Timeouts) CheckAsked() error {
	if err := t.Check(); err != nil {
		return err
	}
	if t.Ack != 0 && time.Duration(t.Ack) < MinAck {
		return refusal.New(refusal.Invalid, "use 5s or more, or omit it for 15s",
			"the ack timeout is %s: a receiver has at least %s to answer an offer that it has seen", t.Ack, Duration(MinAck)).With("field", "ack")
	}
	return nil
}

// Check refuses (invalid) durations that are out of range, see [Duration.Check].
func (t Timeouts) Check() error {
	for _, c := range []struct {
		name string
		d    Duration
	}{
		{"offer", t.Offer},
		{"ack", t.Ack},
		{"approval", t.Approval},
		{"answer", t.Answer},
		{"confirm", t.Confirm},
		{"lease", t.Lease},
		{"progress", t.Progress},
		{"wait", t.Wait},
	} {
		if !c.d.inRange() {
			return refusal.In(c.name, c.d.Check("the "+c.name+" timeout"))
		}
	}
	return nil
}
