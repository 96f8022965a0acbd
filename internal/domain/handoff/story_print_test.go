package handoff

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// detail is what an event says that a reader of the story wants to know.
func (s *story) detail(e event.Event) string {
	if text, ok := s.handoffDetail(e); ok {
		return text
	}
	if text, ok := s.ticketDetail(e); ok {
		return text
	}
	switch e := e.(type) {
	case event.Created:
		return quote(e.Intent) + " for " + e.Requester
	case event.Started:
		return e.Agent + ", lease until " + s.at(e.Lease)
	case event.LeaseRenewed:
		return "until " + s.at(e.Lease)
	case event.Progressed:
		return quote(e.Note)
	case event.Constrained:
		return quoteConstraint(e.Constraint)
	case event.Lifted:
		if e.TightenedBy != "" {
			return e.ID + ", what " + e.TightenedBy + " tightened: " + e.Why + "; now " + e.After.Limits()
		}
		return e.ID + ": " + e.Why
	case event.Finished:
		return "by " + e.Agent + " " + quote(e.Result.Text)
	case event.GaveUp:
		return "by " + e.Agent + ": " + e.Detail
	case event.Called:
		return "by " + e.By
	case event.LeaseLost:
		return e.Agent
	case event.OwnerStuck:
		return strings.TrimSuffix(e.Agent+", says "+cmp.Or(e.By, "its clock")+": "+e.Detail, ": ")
	case event.ParkedTask:
		return string(e.Cause) + ": " + e.Detail
	case event.BudgetRaised:
		return strings.TrimSuffix(fmt.Sprintf("%s to %d tokens by %s: %s", cmp.Or(e.Child, "the task"), e.Budget.Tokens, e.By, e.Why), ": ")
	case event.Replayed:
		return "by " + e.By
	case event.Discarded:
		return "by " + e.By + ": " + e.Why
	case event.DependencyEnded:
		return e.Task + " " + string(e.State)
	case event.TakeoverAsked:
		return "by " + e.By
	case event.TakeoverRefused:
		return "by " + e.By
	case event.Shared:
		return "with " + e.To + packText(e.Pack)
	case event.NoticeSeen:
		return fmt.Sprintf("%d, by %s", e.Notice, e.Agent)
	case event.Rendered:
		return s.rendered(e)
	case event.GapReported:
		return "by " + e.Agent + ": " + strings.Join(e.Missing, ", ")
	case event.AdviceTaken:
		return string(e.Outcome) + " by " + e.Model + ": " + e.Why
	case event.Kept:
		return strings.Join(e.Decision.Why, "; ")
	case event.Annotated:
		return fmt.Sprintf("entry %d by %s: %s", e.Entry, e.By, e.Note)
	}
	return ""
}

func (s *story) handoffDetail(e event.Event) (string, bool) {
	switch e := e.(type) {
	case event.HandoffRequested:
		return s.requested(e), true
	case event.ApprovalAsked:
		return "until " + s.at(e.Ends), true
	case event.Approved:
		return "by " + e.By + " for " + strings.Join(e.To, ", "), true
	case event.Denied:
		return "by " + e.By, true
	case event.OfferMade:
		text := fmt.Sprintf("offer %d to %s (%s), until %s", e.Offer, strings.Join(e.To, ", "), e.Tier, s.at(e.Ends))
		if e.Reason != "" {
			text += ", for " + string(e.Reason)
		}
		if len(e.Passed) > 0 {
			text += "; passed over: " + event.WhyPassed(e.Passed)
		}
		return text, true
	case event.Seen:
		if e.Ends.IsZero() {
			return "by " + e.Agent, true
		}
		return "by " + e.Agent + ", who answers until " + s.at(e.Ends), true
	case event.ClaimJoined:
		return e.Agent, true
	case event.Acknowledged:
		return "by " + e.Agent, true
	case event.RejectedOffer:
		return strings.TrimSpace(fmt.Sprintf("by %s: %s %s", e.Agent, e.Why, strings.Join(e.Missing, ", "))), true
	case event.OfferShed:
		return fmt.Sprintf("offer %d, from %s to %s, says %s: %s", e.Offer, e.Agent, strings.Join(e.To, ", "), e.By, e.Why), true
	case event.OfferExpired:
		return "unanswered by " + strings.Join(e.To, ", "), true
	case event.Unanswered:
		return "by " + e.Agent, true
	case event.RetryScheduled:
		return fmt.Sprintf("%s gets try %d at %s", e.Agent, e.Try, s.at(e.At)), true
	case event.Confirmed:
		return s.confirmed(e), true
	case event.Moved:
		return fmt.Sprintf("%s -> %s, epoch %d, lease until %s", e.From, e.To, e.Epoch, s.at(e.Lease)), true
	case event.Returned:
		return string(e.Outcome) + ": " + e.Why, true
	case event.Spawned:
		return s.spawned(e), true
	case event.ChildEnded:
		return childEnded(e), true
	case event.Joined:
		return joined(e), true
	}
	return "", false
}

func (s *story) ticketDetail(e event.Event) (string, bool) {
	switch e := e.(type) {
	case event.TicketOpened:
		text := fmt.Sprintf("ticket %d, %s for the desk %s", e.Ticket, e.Kind, e.Desk)
		if e.To != "" {
			text += " and there " + e.To
		}
		text += ": " + quote(e.Question) + ", until " + s.at(e.Due)
		if e.Then != "" {
			text += ", then " + e.Then
		}
		if len(e.Passed) > 0 {
			text += "; passed over: " + event.WhyPassed(e.Passed)
		}
		return text, true
	case event.TicketClaimed:
		if !e.Ends.IsZero() {
			return "by " + e.By + ", kept until " + s.at(e.Ends), true
		}
		return "by " + e.By + ", until " + s.at(e.Due), true
	case event.TicketReleased:
		return "by " + e.By + ", until " + s.at(e.Due), true
	case event.TicketReminded:
		return fmt.Sprintf("reminder %d of %s", e.Reminder, s.at(e.Due)), true
	case event.TicketEscalated:
		return fmt.Sprintf("to the desk %s until %s: %s", e.Desk, s.at(e.Due), e.Why), true
	case event.TicketClosed:
		return strings.TrimRight(fmt.Sprintf("%s by %s %s%s", e.Outcome, cmp.Or(e.By, "nobody"), quote(e.Answer), e.Detail), " "), true
	}
	return "", false
}

func (s *story) requested(e event.HandoffRequested) string {
	text := fmt.Sprintf("handoff %d, %s, for %s, from %s", e.Handoff, e.Kind, e.Reason, e.From)
	if e.Recovery {
		text += ", a recovery"
	}
	if len(e.Passed) > 0 {
		text += "; passed over: " + event.WhyPassed(e.Passed)
	}
	return text + packText(e.Pack)
}

func packText(p event.Pack) string {
	if p.Tokens == 0 && p.Strategy == "" && len(p.Pinned) == 0 {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf(", packed into %d tokens, %s %s", p.Tokens, cmp.Or(p.Strategy, "as it comes"), strings.Join(p.Pinned, " ")), " ")
}

func (s *story) rendered(e event.Rendered) string {
	text := fmt.Sprintf("%s for %s, of %s", e.Digest, e.Agent, e.Source)
	if e.Share > 0 {
		return text + fmt.Sprintf(", share %d", e.Share)
	}
	return text + fmt.Sprintf(", offer %d", e.Offer)
}

func (s *story) confirmed(e event.Confirmed) string {
	text := "by " + e.By
	if e.Auto {
		text += ", automatic"
	}
	if e.Envelope != "" {
		text += ", with last notes"
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (s *story) spawned(e event.Spawned) string {
	var to []string
	for _, c := range e.Children {
		text := c.Task + " for " + c.To
		if c.Budget.Tokens > 0 {
			text += fmt.Sprintf(" with %d tokens", c.Budget.Tokens)
		}
		if s.task.Limits.Tasks != (event.Limits{}).WithDefaults().Tasks {
			text += fmt.Sprintf(", which may make %d", c.Tasks)
		}
		to = append(to, text)
	}
	text := fmt.Sprintf("%s to %s; fan-in %s", e.Kind, strings.Join(to, ", "), e.FanIn.Mode)
	if e.Permissions != nil {
		text += fmt.Sprintf("; permissions %v", e.Permissions)
	}
	if len(e.Passed) > 0 {
		text += "; passed over: " + event.WhyPassed(e.Passed)
	}
	return text + packText(e.Pack)
}

func childEnded(e event.ChildEnded) string {
	text := e.Child + " " + string(e.State)
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	if e.Late {
		text += ", late: recorded, changes nothing"
	}
	return text
}

func joined(e event.Joined) string {
	text := e.Why
	if len(e.Cancel) > 0 {
		text += "; no longer needed: " + strings.Join(e.Cancel, ", ")
	}
	return text
}

func quote(text string) string {
	if text == "" {
		return ""
	}
	return "“" + text + "”"
}

func quoteConstraint(k event.Constraint) string {
	text := k.ID + " " + quote(k.Text)
	if k.Max != nil {
		text += fmt.Sprintf(" at most %g", *k.Max)
	}
	if k.Allow != nil {
		text += fmt.Sprintf(" only %v", k.Allow)
	}
	return text + " by " + k.Origin
}

// whole is everything of the task that the state line leaves out and that is set.
func (s *story) whole() string {
	t := s.task
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s: %v\n", name, value) }
	line("used", fmt.Sprintf("%d hops, %d handoffs, %d escalations, %d attempts", t.Used.Hops, t.Used.Handoffs-t.Used.Base,
		t.Used.Escalations, t.Used.Attempts))
	if t.Chain.Chain != "" {
		line("chain", strings.TrimRight(fmt.Sprintf("%s, level %d, %s", t.Chain.Chain, t.Chain.Level, t.Chain.Agent), ", "))
	}
	if len(t.Children) > 0 {
		line("tasks", fmt.Sprintf("%d of %d used", t.Used.Tasks, t.Limits.Tasks))
	}
	if t.Held != t.Envelope && t.Held != "" {
		line("held", t.Held)
	}
	if t.Conversation != "" {
		line("conversation", t.Conversation)
	}
	var path []string
	for _, v := range t.Path {
		path = append(path, v.Agent)
	}
	line("path", strings.Join(path, " -> "))
	if t.Budget != (event.Budget{}) {
		line("tokens", fmt.Sprintf("%d of %d spent, %d reserved", t.Spent.Tokens, t.Budget.Tokens, t.Reserved.Tokens))
	}
	if t.Permissions != nil {
		line("permissions", t.Permissions)
	}
	for _, k := range t.Constraints {
		line("constraint", quoteConstraint(k))
	}
	if len(t.Route) > 0 {
		line("route", strings.Join(t.Route, " -> "))
	}
	if !t.Deadline.IsZero() {
		line("deadline", s.at(t.Deadline))
	}
	for _, c := range t.Children {
		line("child", strings.TrimSpace(short(c.Task)+" "+c.To+" "+string(c.State)+" "+c.Why))
	}
	if k := t.Ticket; k != nil {
		line("ticket", strings.TrimRight(fmt.Sprintf("%d %s %s %s", k.N, k.Kind, k.State, k.Outcome), " "))
	}
	if t.Resumed {
		line("told", t.Source())
	}
	for _, a := range t.Answers {
		line("answer", a.By+": "+a.Answer)
	}
	if t.Result != nil {
		line("result", short(t.Result.Text+" "+string(t.Result.Data)))
	}
	return b.String()
}

// notices are the notices of the task, one on a line.
func (s *story) notices() string {
	var b strings.Builder
	for _, n := range s.task.Notices {
		line := fmt.Sprintf("%d to %s: %s by %s", n.N, n.Agent, n.Kind, n.By)
		if n.Epoch != 0 {
			line += fmt.Sprintf(", which had epoch %d", n.Epoch)
		}
		if n.Why != "" {
			line += ": " + n.Why
		}
		if n.Seen {
			line += " (seen)"
		}
		b.WriteString(short(line) + "\n")
	}
	return cmp.Or(b.String(), "none\n")
}
