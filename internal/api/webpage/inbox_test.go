package webpage

import (
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// When a ticket is due is what its asker wants: it does not put one of many before all others.
func TestTheAskersOfMoreTicketsThanAPageHasTakeTurns(t *testing.T) {
	soon := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	of := func(some bool) (got string) {
		var list []client.Ticket
		for n := range 4 {
			list = append(list, client.Ticket{ID: fmt.Sprint("j", n), TicketDoc: client.TicketDoc{By: "agent/junk", Due: soon}, Position: uint64(n)})
		}
		for n := range 2 {
			list = append(list, client.Ticket{ID: fmt.Sprint("h", n), TicketDoc: client.TicketDoc{By: "agent/honest", Due: soon.Add(time.Hour)}, Position: uint64(9 + n)})
		}
		byDue(list, some)
		for _, k := range list {
			got += k.ID
		}
		return got
	}
	if got := of(true); got != "j0h0j1h1j2j3" {
		t.Errorf("of some tickets: %s", got)
	}
	if got := of(false); got != "j0j1j2j3h0h1" {
		t.Errorf("of all tickets: %s", got)
	}
}
