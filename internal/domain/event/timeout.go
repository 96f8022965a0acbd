package event

import (
	"cmp"
	"time"
)

// Timeouts are how long the clocks of a task and its handoffs run. Zero fields mean the default.
type Timeouts struct {
	Offer    Duration `json:"offer,omitzero"`    // of an offer that nobody has seen; default 10m
	Ack      Duration `json:"ack,omitzero"`      // from seen to answered; default 15s
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
		if err := c.d.Check("the " + c.name + " timeout"); err != nil {
			return err
		}
	}
	return nil
}
