package webpage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/webpage/standing"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// What a task waits for is said where it is looked at, with when the server goes on by itself.
func TestATaskThatHasNotEndedSaysWhyItIsWhereItIs(t *testing.T) {
	open := &client.TaskTicket{}
	open.ID, open.Kind, open.State, open.Question = "task_1.k1", "question", "open", "Refund it?"
	open.Desk = "billing"
	approval, claimed := &client.TaskTicket{}, &client.TaskTicket{}
	approval.ID, approval.Kind, approval.State, approval.Due = "task_1.k2", "approval", "open", noon
	approval.Desk = "operators"
	claimed.ID, claimed.Kind, claimed.State, claimed.ClaimedBy, claimed.Desk = "task_1.k3", "takeover", "claimed", "zoe", "billing"
	late := &client.TaskTicket{ID: open.ID, TicketDoc: open.TicketDoc}
	late.Due, late.Then = noon.Add(time.Hour), "operators"
	next, gone := *claimed, *claimed
	next.Then, gone.Then, gone.Level = "operators", "operators", 1
	for name, c := range map[string]struct {
		task        client.Task
		want, link  string
		then        string // that is what follows
		until, none bool
		only        bool // nothing else is said
	}{
		"offered":                           {task: client.Task{State: client.HandingOff, Handoff: &client.Handoff{To: []string{"bob"}, OfferEnds: noon}}, want: "Offered to bob: not seen yet", link: "/agents/bob", until: true},
		"seen":                              {task: client.Task{State: client.HandingOff, Handoff: &client.Handoff{To: []string{"bob", "cat"}, SeenBy: []string{"cat"}, AckEnds: noon}}, want: "seen by cat: not accepted yet", link: "/agents/cat", until: true},
		"retry":                             {task: client.Task{State: client.HandingOff, Handoff: &client.Handoff{To: []string{"bob"}, RetryAt: noon}}, want: "The offer failed", link: "#takeover", until: true},
		"approval":                          {task: client.Task{State: client.HandingOff, Handoff: &client.Handoff{ApprovalEnds: noon}}, want: "Waits for approval", until: true},
		"confirm":                           {task: client.Task{State: client.HandingOff, Handoff: &client.Handoff{From: "ann", Receiver: "bob", ConfirmEnds: noon}}, want: "ann has to confirm", until: true},
		"owned":                             {task: client.Task{State: client.Executing, Owner: "bob", Progress: "half of it", Lease: noon}, want: "bob works on it: half of it", link: "/agents/bob", until: true},
		"pending":                           {task: client.Task{State: client.Pending, Requester: "ann", TakeUpBy: noon}, want: "ann has to send it", link: "#takeover", until: true},
		"depends":                           {task: client.Task{State: client.Pending, Dependencies: []client.Dependency{{Task: "task_2", State: client.Executing}, {Task: "task_3", State: client.Completed}}}, want: "Depends on a task that is not completed:", link: "/tasks/task_2"},
		"children":                          {task: client.Task{State: client.Waiting, Children: []client.Child{{To: "bob", Group: 1, State: client.Executing}, {To: "cat", Group: 1, State: client.Completed}}}, want: "1 of 2 children, from bob", link: "#children"},
		"stranded":                          {task: client.Task{State: client.Waiting, Children: []client.Child{{Task: "task_4", To: "bob", Group: 1, State: client.Parked, Why: "nobody took it"}}}, want: "the part of bob, which is in the dead letters: nobody took it", link: "/tasks/task_4"},
		"asked":                             {task: client.Task{State: client.Waiting, Ticket: open}, want: "Waits for a person of the desk billing: Refund it?", link: "/tickets/task_1.k1"},
		"parked":                            {task: client.Task{ID: "task_1", State: client.Parked, Parked: &client.ParkedFor{Cause: "owner_lost", Detail: "no recovery is left"}}, want: "owner lost: no recovery is left", link: "/dead?text=task_1"},
		"taken over":                        {task: client.Task{State: client.Executing, Owner: "bob", Takeovers: []client.TakeoverRequest{{By: "cat", Detail: "he sleeps"}}}, want: "cat asks to take it over: he sleeps", link: "#takeover"},
		"approved":                          {task: client.Task{State: client.HandingOff, Ticket: approval, Handoff: &client.Handoff{ApprovalEnds: noon}}, want: "Waits for a person of the desk operators, to approve its handoff", link: "/tickets/task_1.k2", until: true, only: true},
		"claimed":                           {task: client.Task{State: client.Executing, Owner: "zoe", Ticket: claimed, Lease: noon}, want: "zoe has taken it over from the desk billing, and works on it", then: "it goes to the dead letters", link: "/agents/zoe", until: true, only: true},
		"taken from a desk before the next": {task: client.Task{State: client.Executing, Owner: "zoe", Ticket: &next, Lease: noon, Progress: "called"}, want: "works on it: called", then: "the desk operators is asked", link: "/agents/zoe", until: true},
		"taken from the next desk":          {task: client.Task{State: client.Executing, Owner: "zoe", Ticket: &gone, Lease: noon}, want: "works on it", then: "it goes to the dead letters", link: "/agents/zoe", until: true},
		"handed on by who took it":          {task: client.Task{State: client.Executing, Owner: "bob", Ticket: claimed, Lease: noon}, want: "bob works on it", then: "another agent is asked", link: "/agents/bob", until: true},
		"its deadline is before":            {task: client.Task{State: client.Waiting, Ticket: late, Deadline: noon}, want: "Waits for a person of the desk billing", then: "its deadline has passed, and it goes to the dead letters", link: "/tickets/task_1.k1", until: true, only: true},
		"ended":                             {task: client.Task{State: client.Completed, Parked: &client.ParkedFor{Cause: "limit"}}, none: true},
	} {
		all, found := standing.Of(c.task), false
		for _, s := range all {
			if strings.Contains(s.Text, c.want) && strings.HasPrefix(s.Then, c.then) && s.Link == c.link && s.Until.IsZero() == !c.until && (s.Until.IsZero() || s.Then != "") {
				found = true
			}
		}
		if c.only && len(all) != 1 {
			t.Errorf("%s says more: %+v", name, all)
		}
		if found == c.none || c.none && len(all) > 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
