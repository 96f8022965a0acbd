//go:build slow || outside

package scenario

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/figure"
)

// TestFiguresEqualACountOfAnExport counts an export as text, with nothing of the server's own counting, for every figure that is counted from the record.
func TestFiguresEqualACountOfAnExport(t *testing.T) {
	bubble(t, sound(), func(h *harness) {
		h.everything()
		c := countText(h, h.exported())
		points, err := h.monitor().Points(ctx(h))
		if err != nil {
			h.Fatal(err)
		}
		compared := map[*figure.Instrument]bool{}
		compare := func(i *figure.Instrument, want float64, label ...string) {
			compared[i] = true
			if got := sumOf(points, i, label...); got != want {
				h.Errorf("%s %q: the figures have %g, the export %g", i.Name, label, got, want)
			}
		}
		spread := func(i *figure.Instrument, want []float64) {
			compare(i, float64(len(want)))
			got, all := 0.0, 0.0
			for j := range points {
				if points[j].Instrument == i {
					got += points[j].Spread.Sum
				}
			}
			for _, v := range want {
				all += v
			}
			if math.Abs(got-all) > 1e-9*math.Max(1, all) {
				h.Errorf("%s: the figures have %g in all, the export %g", i.Name, got, all)
			}
		}
		n := c.names
		compare(figure.HandoffsRequested, n["handoff-request"])
		for outcome, want := range c.ended {
			compare(figure.HandoffsEnded, want, "outcome", outcome)
		}
		compare(figure.HandoffsFailed, c.failed)
		failed, lost := excessOf(c.failedBy), excessOf(c.lostBy)
		for i, want := range map[*figure.Instrument]float64{figure.FailedExcess: failed, figure.EndedExcess: failed, figure.LostExcess: lost, figure.PackedExcess: lost} {
			compare(i, want, "severity", "critical") // so little ends that no alert leaves out all of a sender
		}
		compare(figure.HandoffsOpen, float64(len(c.open)))
		spread(figure.HandoffDelivery, c.delivered)
		spread(figure.ReasonDelivery, c.delivered)
		spread(figure.HandoffAcceptance, c.accepted)
		spread(figure.ReasonAcceptance, c.accepted)
		for label, name := range map[string]string{"made": "handoff-offered", "seen": "handoff-seen", "accepted": "handoff-acknowledgment", "rejected": "handoff-rejected", "expired": "offer-expired", "unanswered": "offer-unanswered", "shed": "offer-shed"} {
			compare(figure.Offers, n[name], "event", label)
		}
		compare(figure.Retries, n["retry-scheduled"])
		compare(figure.LeasesLost, n["lease-lost"])
		compare(figure.OwnersStuck, n["owner-stuck"])
		compare(figure.AgentTasksEnded, c.rid)
		compare(figure.AgentTasksFailed, c.gaveUp)
		compare(figure.TasksCreated, n["task-created"])
		for label, name := range map[string]string{"completed": "task-completed", "failed": "task-failed", "cancelled": "task-cancelled"} {
			compare(figure.TasksEnded, n[name], "state", label)
		}
		compare(figure.TasksOpen, n["task-created"]-n["task-completed"]-n["task-failed"]-n["task-cancelled"])
		spread(figure.TaskHops, c.hops)
		compare(figure.DeadLetters, n["task-parked"])
		compare(figure.DeadLettersAdded, n["task-parked"])
		spread(figure.EnvelopeTokens, c.tokens)
		spread(figure.EnvelopeUtilisation, c.utilisation)
		spread(figure.EnvelopeFullness, c.fullness)
		spread(figure.EnvelopeCompleteness, c.completeness)
		compare(figure.CircuitsOpened, n["circuit-opened"])
		for kind, want := range c.tickets {
			compare(figure.TicketsOpened, want, "kind", kind)
		}
		compare(figure.AuditCoverage, 1)
		for _, i := range figure.Instruments() {
			if i.Origin == figure.Record && !compared[i] {
				h.Errorf("%s is counted from the record, and compared with no count of an export", i.Name)
			}
		}
		if len(c.accepted) < 5 || n["offer-unanswered"] == 0 || n["task-parked"] == 0 || n["owner-stuck"] == 0 || excessOf(c.failedBy) == 0 || c.gaveUp == 0 || c.rid <= c.gaveUp || len(c.open) == 0 || len(c.tickets) < 3 || len(c.ended) < 4 || len(c.tokens) == 0 || len(c.hops) < 3 {
			h.Errorf("the story is too simple: %v, %+v", n, c)
		}
	})
}

// sumOf adds the points of an instrument, or those with one value of a label; of histograms, the counts.
func sumOf(points []figure.Point, i *figure.Instrument, values ...string) (n float64) {
	for j := range points {
		p := &points[j]
		if p.Instrument != i || len(values) == 2 && p.Label(values[0]) != values[1] {
			continue
		}
		if p.Spread != nil {
			n += float64(p.Spread.Count)
		}
		n += p.Value
	}
	return n
}

// textCount is what the lines of an export say.
type textCount struct {
	names, ended, tickets             map[string]float64 // events by name, handoffs by outcome, tickets by kind
	open                              map[string]*inText // handoffs that have not ended, by task
	failed                            float64
	failedBy, lostBy                  []inHour
	senders                           map[string]string    // of the last handoff, by task
	rid, gaveUp                       float64              // of tasks of others: agents that ended, lost or handed on one, and those of them that failed or lost it
	requesters, owners                map[string]string    // by task: an owner that is neither the requester nor a person
	answered                          map[string]time.Time // when each agent last answered an offer
	delivered, accepted               []float64            // seconds since the request
	hops                              []float64            // of tasks that ended
	tokens, utilisation, completeness []float64            // of envelopes
	fullness                          []float64            // of envelopes: utilisation, 1 if the budget had no room for a part
}

// inText is a handoff in progress.
type inText struct {
	requested, offered   time.Time
	seen, denied, silent bool
	to                   string // whom it is offered, if it is one
}

// inHour is what went wrong at a time with what a principal sent.
type inHour struct {
	at     time.Time
	sender string
	n      float64
}

// excessOf is by how much one agent did more harm than all others, in the last hour.
func excessOf(list []inHour) float64 {
	by, all, most := map[string]float64{}, 0.0, 0.0
	for _, o := range list {
		if !o.at.Before(time.Now().Add(-time.Hour).Truncate(time.Minute)) {
			by[o.sender] += o.n
			all += o.n
		}
	}
	for sender, n := range by {
		if !strings.Contains(sender, "/") { // an agent
			most = max(most, n)
		}
	}
	return max(0, 2*most-all)
}

// end ends the handoff of a task in progress, if there is one.
func (c *textCount) end(task, outcome string, at time.Time) {
	f := c.open[task]
	if f == nil {
		return
	}
	delete(c.open, task)
	c.ended[outcome]++
	if slices.Contains([]string{"rejected", "expired", "failed", "parked"}, outcome) && !f.denied {
		c.failed++
		of := inHour{at, c.senders[task], 1}
		if last := c.answered[f.to]; f.silent && !last.IsZero() && !last.After(f.offered) { // the receiver's doing
			of.sender = "receiver/" + f.to
		}
		c.failedBy = append(c.failedBy, of)
	}
}

func countText(h *harness, export []byte) textCount {
	h.Helper()
	c := textCount{names: map[string]float64{}, ended: map[string]float64{}, tickets: map[string]float64{}, open: map[string]*inText{}, senders: map[string]string{}, requesters: map[string]string{}, owners: map[string]string{}, answered: map[string]time.Time{}}
	hops := map[string]float64{}
	for line := range strings.Lines(string(export)) {
		var row textRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			h.Fatal(err)
		}
		c.names[row.Event]++
		c.add(&row, hops)
	}
	return c
}

// textRow is a line of an export.
type textRow struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"timestamp"`
	Event   string    `json:"event"`
	Details struct {
		Outcome, Kind, By, From, Agent    string
		To                                any // a receiver, or several
		Requester                         string
		Hop, Human                        bool
		Handoff                           any // the number of one of the task
		Tokens, Utilisation, Completeness float64
		OverBudget                        float64 `json:"over_budget"`
	} `json:"details"`
}

// ownership counts what owners make of the tasks of others.
func (c *textCount) ownership(row *textRow) {
	switch row.Event {
	case "task-created":
		c.requesters[row.ID] = row.Details.Requester
	case "task-completed", "task-failed", "lease-lost", "owner-stuck":
		if c.owners[row.ID] == "" {
			return
		}
		delete(c.owners, row.ID)
		c.rid++
		if row.Event != "task-completed" {
			c.gaveUp++
		}
	case "handoff-complete":
		if owner := c.owners[row.ID]; owner != "" && strings.TrimPrefix(c.senders[row.ID], "agent/") == owner {
			c.rid++
		}
		delete(c.owners, row.ID)
		if to, _ := row.Details.To.(string); !row.Details.Human && "agent/"+to != c.requesters[row.ID] {
			c.owners[row.ID] = to
		}
	}
}

func (c *textCount) add(row *textRow, hops map[string]float64) {
	d, f := &row.Details, c.open[row.ID]
	c.ownership(row)
	switch row.Event {
	case "handoff-request":
		c.end(row.ID, "cancelled", row.Time)
		c.open[row.ID], c.senders[row.ID] = &inText{requested: row.Time}, cmp.Or(d.By, d.From)
	case "handoff-seen", "handoff-acknowledgment", "handoff-rejected":
		after := row.Time.Sub(f.requested).Seconds()
		if !f.seen {
			f.seen, c.delivered = true, append(c.delivered, after)
		}
		if row.Event != "handoff-seen" {
			c.answered[d.Agent], f.silent = row.Time, false
		}
		if row.Event == "handoff-acknowledgment" {
			c.accepted = append(c.accepted, after)
		}
	case "handoff-offered":
		f.offered, f.to = row.Time, ""
		if to, _ := d.To.([]any); len(to) == 1 {
			f.to, _ = to[0].(string)
		}
	case "offer-expired", "offer-unanswered":
		f.silent = true
	case "handoff-denied":
		f.denied = true
	case "handoff-complete":
		if d.Hop {
			hops[row.ID]++
		}
		c.end(row.ID, "transferred", row.Time)
	case "handoff-returned":
		c.end(row.ID, d.Outcome, row.Time)
	case "approval-asked":
		c.tickets["approval"]++
	case "ticket-opened":
		c.tickets[d.Kind]++
		if d.Handoff != nil {
			c.end(row.ID, "at_desk", row.Time)
		}
	case "envelope-rendered":
		c.tokens, c.utilisation, c.completeness = append(c.tokens, d.Tokens), append(c.utilisation, d.Utilisation), append(c.completeness, d.Completeness)
		if c.fullness = append(c.fullness, d.Utilisation); d.OverBudget > 0 {
			c.fullness[len(c.fullness)-1] = 1
		}
		if d.Completeness < 1 {
			c.lostBy = append(c.lostBy, inHour{row.Time, c.senders[row.ID], 1 - d.Completeness})
		}
	case "task-parked":
		c.end(row.ID, "parked", row.Time)
	case "task-completed", "task-failed", "task-cancelled":
		c.end(row.ID, "cancelled", row.Time)
		c.hops = append(c.hops, hops[row.ID])
	}
}
