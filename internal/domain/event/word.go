package event

import (
	"encoding/json"
	"slices"
	"time"
)

// Timeouts are the durations that start the five clocks, and those around them. Zero fields mean the default.
type Timeouts struct {
	Offer    Duration `json:"offer,omitzero"`    // an offer nobody has seen; default 10m
	Ack      Duration `json:"ack,omitzero"`      // from seen to answered; default 15s
	Approval Duration `json:"approval,omitzero"` // a supervised handoff; default 24h
	Answer   Duration `json:"answer,omitzero"`   // people who are asked something, or to take over, per desk; default 24h
	Confirm  Duration `json:"confirm,omitzero"`  // an explicit confirm; default 1m
	Lease    Duration `json:"lease,omitzero"`    // an owner that shows no life; default 30m
	Progress Duration `json:"progress,omitzero"` // an owner that reports no progress, whatever life it shows; default: no end
	Wait     Duration `json:"wait,omitzero"`     // a parent that waits for children; default: no end
}

// Limits bound what can happen to a task. Zero fields mean the default.
type Limits struct {
	Hops        int `json:"hops,omitzero"`        // changes of owner; default 10
	Handoffs    int `json:"handoffs,omitzero"`    // requests, successful or not; default 30
	Visits      int `json:"visits,omitzero"`      // times one agent may own it; default 5
	Escalations int `json:"escalations,omitzero"` // default 5
	Attempts    int `json:"attempts,omitzero"`    // recoveries from a lost owner; default 3
	Tasks       int `json:"tasks,omitzero"`       // tasks that may come of it, all generations together; default 1000
}

// Used is how much of the limits is gone.
type Used struct {
	Hops        int `json:"hops"`
	Handoffs    int `json:"handoffs"`
	Escalations int `json:"escalations"`
	Attempts    int `json:"attempts"`
	Tasks       int `json:"tasks,omitempty"` // made, or set aside for children to make; of a child, also what is its family's
	Base        int `json:"base,omitempty"`  // handoffs before the last replay: numbers go on, the limit starts again
}

// Budget is what a task may spend, or has spent, as its agents report it.
type Budget struct {
	Tokens int64 `json:"tokens,omitzero"`
	Cost   int64 `json:"cost_micros,omitzero"` // millionths of the currency that the deployment counts in
}

// Visit is one ownership on a task's path.
type Visit struct {
	Agent string `json:"agent"`
	Marks int    `json:"marks"` // the task's marks when the agent let go; -1 while it holds the task
}

// Constraint is a rule for whoever holds the task. It can be tightened, never loosened.
type Constraint struct {
	ID     string         `json:"id"`
	Kind   ConstraintKind `json:"kind"`
	Text   string         `json:"text"`
	Hard   bool           `json:"hard,omitempty"`
	Max    *float64       `json:"max,omitempty"`  // tighter is smaller
	Allow  []string       `json:"allow,omitzero"` // tighter is a subset; absent: anything; empty: nothing
	Origin string         `json:"origin,omitempty"`
}

// Dependency is a task that must complete before this one can start.
type Dependency struct {
	Task  string `json:"task"`
	State State  `json:"state"` // Pending until it ends
}

// Expected is what the result must look like.
type Expected struct {
	Format   string          `json:"format,omitempty"`
	MaxBytes int             `json:"max_bytes,omitzero"`
	Criteria []string        `json:"criteria,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"`
}

// Candidate is a receiver that a handoff may be offered to.
type Candidate struct {
	Agent string `json:"agent"` // empty for a desk
	Tier  Tier   `json:"tier"`
	Desk  string `json:"desk,omitempty"`  // of people: the handoff ends there, with a ticket to take the task over
	Level int    `json:"level,omitempty"` // its place in an escalation chain, from 1; 0: it has none
	Human bool   `json:"human,omitempty"` // a person: no clock for acknowledgment or signs of life runs, but that for answers
}

// Passed is a candidate that was left out, and why.
type Passed struct {
	Agent string `json:"agent"`
	Why   string `json:"why"`
}

// Parent links a child task to the task it works for.
type Parent struct {
	Task  string `json:"task,omitempty"`
	Index int    `json:"index,omitempty"`
	Await bool   `json:"await,omitempty"` // the parent wants to hear how it ends
}

// FanIn says when the parent resumes.
type FanIn struct {
	Mode   FanInMode `json:"mode"`
	Quorum int       `json:"quorum,omitzero"`
}

// Result is what came of a task.
type Result struct {
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
	Code int             `json:"code,omitzero"` // exit code, where a program did the work
	// Review is what only a judge can check of it, as the task expects it; the server fills it in.
	Review []string `json:"review,omitempty"`
}

// WithDefaults fills in what is not set.
func (t Timeouts) WithDefaults() Timeouts {
	t.Offer = t.Offer.Or(10 * time.Minute)
	t.Ack = t.Ack.Or(15 * time.Second)
	t.Approval = t.Approval.Or(24 * time.Hour)
	t.Answer = t.Answer.Or(24 * time.Hour)
	t.Confirm = t.Confirm.Or(time.Minute)
	t.Lease = t.Lease.Or(30 * time.Minute)
	return t
}

// Over returns t with the fields of base where t has none.
func (t Timeouts) Over(base Timeouts) Timeouts {
	t.Offer = t.Offer.Or(time.Duration(base.Offer))
	t.Ack = t.Ack.Or(time.Duration(base.Ack))
	t.Approval = t.Approval.Or(time.Duration(base.Approval))
	t.Answer = t.Answer.Or(time.Duration(base.Answer))
	t.Confirm = t.Confirm.Or(time.Duration(base.Confirm))
	t.Lease = t.Lease.Or(time.Duration(base.Lease))
	t.Progress = t.Progress.Or(time.Duration(base.Progress))
	t.Wait = t.Wait.Or(time.Duration(base.Wait))
	return t
}

// answerTime is how long people have where a task, an older one, does not say.
const answerTime = 24 * time.Hour

// People is how long people have: to take an offer, and with a task that they took.
func (t Timeouts) People() Duration { return t.Answer.Or(answerTime) }

// Check refuses durations that are out of range.
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

// WithDefaults fills in what is not set.
func (l Limits) WithDefaults() Limits {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	set(&l.Hops, 10)
	set(&l.Handoffs, 30)
	set(&l.Visits, 5)
	set(&l.Escalations, 5)
	set(&l.Attempts, 3)
	set(&l.Tasks, 1000)
	return l
}

// mostBudget caps sums, so that no report can make one wrap around to below zero.
const mostBudget = 1 << 60

// Plus adds amounts that are not negative.
func (b Budget) Plus(o Budget) Budget {
	return Budget{min(b.Tokens+o.Tokens, mostBudget), min(b.Cost+o.Cost, mostBudget)}
}

// Minus subtracts; the result may be below zero.
func (b Budget) Minus(o Budget) Budget { return Budget{b.Tokens - o.Tokens, b.Cost - o.Cost} }

// Split gives each part what it asks for of what is left of b, and the parts that ask for nothing equal shares of the
// rest; never an amount of zero, which would mean no limit. It reports whether there is enough. Amounts that b does not
// limit stay as they were asked for.
func (b Budget) Split(left Budget, asked []Budget) ([]Budget, bool) {
	parts := slices.Clone(asked)
	ok := split(parts, b.Tokens, left.Tokens, func(p *Budget) *int64 { return &p.Tokens }) &&
		split(parts, b.Cost, left.Cost, func(p *Budget) *int64 { return &p.Cost })
	return parts, ok
}

func split(parts []Budget, limit, left int64, amount func(*Budget) *int64) bool {
	if limit == 0 {
		return true
	}
	var unnamed int64
	for i := range parts {
		if n := *amount(&parts[i]); n > 0 {
			left -= n
		} else {
			unnamed++
		}
	}
	if left < unnamed {
		return false
	}
	for i := range parts {
		if n := amount(&parts[i]); *n == 0 {
			*n = left / unnamed
		}
	}
	return true
}
