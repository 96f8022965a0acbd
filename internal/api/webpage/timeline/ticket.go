package timeline

import "strings"

// tickets are the kinds and desks of a task's tickets, by their numbers. What happens to a ticket later names its number alone.
type tickets map[int]ticket

type ticket struct{ kind, desk string }

// operators is the desk of approvals.
const operators = "operators"

// tell notes what an entry says of a ticket, and adds to its fields what is known of it. It returns the number of the ticket; 0: it is about none.
func (ts tickets) tell(event string, fields map[string]any) int {
	switch event {
	case "ticket-opened":
		kind, _ := fields["kind"].(string)
		desk, _ := fields["desk"].(string)
		ts[numberOf(fields)] = ticket{kind, desk}
		return numberOf(fields)
	case "approval-asked": // which opens the next ticket, and does not number it
		n := 1
		for k := range ts {
			n = max(n, k+1)
		}
		ts[n] = ticket{"approval", operators}
		fields["desk"] = operators
		return n
	}
	n := numberOf(fields)
	k, known := ts[n]
	if !known || !strings.HasPrefix(event, "ticket-") {
		return 0
	}
	if to, ok := fields["desk"].(string); ok && event == "ticket-escalated" {
		fields["from"] = k.desk
		k.desk = to
		ts[n] = k
	}
	fields["kind"], fields["desk"] = k.kind, k.desk
	return n
}

// numberOf is the ticket that an entry is about; 0: none.
func numberOf(fields map[string]any) int {
	n, _ := fields["ticket"].(float64)
	return int(n)
}
