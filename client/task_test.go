package client_test

import (
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestOnlyWhoWaitsForADeadLetterIsToldOfIt(t *testing.T) {
	parked := client.Child{Task: "task_b", Group: 2, State: client.Parked}
	ticket := func(kind, state string) *client.TaskTicket {
		return &client.TaskTicket{TicketDoc: client.TicketDoc{Kind: kind, State: state}}
	}
	for name, c := range map[string]struct {
		state  client.State
		last   client.Child
		ticket *client.TaskTicket
		want   int
	}{
		"it waits for it":                        {client.Waiting, parked, nil, 1},
		"and for one that is at work":            {client.Waiting, client.Child{Group: 2, State: client.Executing}, nil, 1},
		"and people were asked before":           {client.Waiting, parked, ticket("question", "closed"), 1},
		"and a person has taken the task over":   {client.Waiting, parked, ticket("takeover", "claimed"), 1},
		"it goes on":                             {client.Executing, parked, nil, 0},
		"it waits for children made later":       {client.Waiting, client.Child{Group: 3, State: client.Executing}, nil, 0},
		"it waits for an answer, and not for it": {client.Waiting, parked, ticket("question", "claimed"), 0},
		"it waits for somebody to take it over":  {client.Waiting, parked, ticket("takeover", "open"), 0},
	} {
		task := client.Task{State: c.state, Ticket: c.ticket, Children: []client.Child{{Task: "task_a", Group: 1, State: client.Parked}, {Task: "task_c", Group: 2, State: client.Completed}}}
		if c.last != parked {
			task.Children = append(task.Children, parked)
		}
		task.Children = append(task.Children, c.last)
		got := task.Stranded()
		if len(got) != c.want || c.want > 0 && got[0].Task != "task_b" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
