package handoff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// noticed: an agent whose task ends, is parked or gets another owner has a notice, unless it did that itself; and so does the
// requester when it ends or is parked. Nobody else gets one.
func noticed(before task.Task, c Command, events []event.Event, after task.Task) error {
	over := func(t task.Task) bool { return t.State.Final() || t.State == event.Parked }
	fresh := map[string]task.Notice{}
	seen := map[string]bool{}
	for _, n := range after.Notices {
		switch {
		case seen[n.Agent]:
			return fmt.Errorf("%s has two notices", n.Agent)
		case n.Agent == after.Owner && n.Kind == task.NoticeTaken:
			return fmt.Errorf("the owner %s has the notice %+v", n.Agent, n)
		case n.N > before.NoticeCount:
			fresh[n.Agent] = n
		}
		seen[n.Agent] = true
	}
	ended := over(after) && (!over(before) || before.State == event.Parked && after.State != event.Parked)
	names := eventNames(events)
	parked := slices.Contains(names, event.ParkedTask{}.EventName())
	moved := before.Owner != "" && after.Owner != before.Owner && !ended
	former := before.Owner
	if strings.Contains(former, "/") || over(before) {
		former = ""
	}
	finished := slices.Contains(names, event.Finished{}.EventName()) || slices.Contains(names, event.GaveUp{}.EventName())
	by := commander(c)
	switch _, has := fresh[former]; {
	case former == "":
	case (ended || parked) && !finished && by != former && !has:
		return fmt.Errorf("%s is not told by %T that its task is %s", former, c, after.State)
	case finished && has:
		return fmt.Errorf("%s ended the task itself, and is told", former)
	case moved && after.Handoff.Recovery && !has:
		return fmt.Errorf("%s is not told that %s recovered its task", former, after.Owner)
	case moved && after.Handoff.Ticket == 0 && after.Handoff.By == "agent/"+former && has:
		return fmt.Errorf("%s handed the task to %s, and is told so", former, after.Owner)
	}
	requester, isAgent := strings.CutPrefix(after.Requester, "agent/")
	if _, has := fresh[requester]; isAgent && ended && after.Parent.Task == "" && requester != by && requester != former && !has {
		return fmt.Errorf("the requester %s is not told by %T that the task is %s", requester, c, after.State)
	}
	if !ended && !parked && !moved && len(fresh) > 0 && !slices.Contains(names, event.Returned{}.EventName()) && !slices.Contains(names, event.Moved{}.EventName()) {
		return fmt.Errorf("%T gave notices of nothing: %v", c, fresh)
	}
	return nil
}

// commander is the agent that gave a command that ends a task; empty for others.
func commander(c Command) string {
	switch c := c.(type) {
	case Complete:
		return c.By.Short()
	case Fail:
		return c.By.Short()
	case Cancel:
		return c.By.Short()
	case Discard:
		return c.By.Short()
	}
	return ""
}
