package timeline

import (
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Hop is a handoff of a task, or of a part of it.
type Hop struct {
	N       int // 0: a part was delegated
	Handoff string
	From    string
	To      string
	Reason  client.Reason
	Status  client.Stage
	Part    client.State // of the task to which a part was delegated; empty: it is not known
	At      time.Time
	Hop     *client.Hop // what its envelope kept, if it has one
}

// Hops are the handoffs of a task, with the states of its parts by their ids: the record has what the task has heard of them.
func Hops(task string, records []client.Record, drift *client.Drift, parts map[string]client.State) (all []Hop) {
	for _, d := range records {
		h := Hop{N: Number(task, d.HandoffID), Handoff: d.HandoffID, From: d.From, To: d.To, Reason: d.Reason, Status: d.Status, At: d.Timestamp}
		if part, _, _ := strings.Cut(d.HandoffID, "."); h.N == 0 {
			h.Part = parts[part]
		}
		if drift != nil {
			for k := range drift.Hops {
				if drift.Hops[k].Handoff == d.HandoffID {
					h.Hop = &drift.Hops[k]
				}
			}
		}
		all = append(all, h)
	}
	return all
}
