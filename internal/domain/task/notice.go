package task

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// NoticeKind is what a notice tells. The set is closed.
type NoticeKind string

// The kinds of notices.
const (
	NoticeTaken     NoticeKind = "taken"     // another agent owns the task now, or the handoff was taken back: stop working on it
	NoticeCancelled NoticeKind = "cancelled" // the task was cancelled or discarded
	NoticeParked    NoticeKind = "parked"    // the task is in the dead letters
	NoticeCompleted NoticeKind = "completed" // the result is in
	NoticeFailed    NoticeKind = "failed"    // the owner gave up
)

// Notice tells an agent of the end or loss of a task that it did not cause: a former owner, a receiver that had accepted, or the
// requester. An agent has at most one notice of a task, the newest; it is dropped when the agent owns the task again.
type Notice struct {
	N     int
	Agent string
	Kind  NoticeKind
	By    string // the principal that did it, or the new owner; "system" for the server
	Why   string
	Epoch uint64 // of the ownership that the agent lost; 0: it owned nothing
	Seen  bool
}

// discarded begins the reason of the end of a dead letter.
const discarded = "discarded from the dead letters: "

// holders are those that work on a task, or are about to.
type holders struct {
	owner    string // an agent, or a person
	epoch    uint64
	accepted string // the receiver that has accepted a handoff and waits for its confirmation
}

func (t *Task) holders() holders {
	w := holders{owner: t.Owner, epoch: t.Epoch}
	if t.State.Final() || t.State == event.Parked {
		w.owner = "" // it has been told
	}
	if h := t.Handoff; h != nil && h.Stage == event.Accepted {
		w.accepted = h.Receiver
	}
	return w
}

// notice gives notices of what an event ends or takes away.
func (t *Task) notice(e event.Event, was holders) {
	var n Notice
	switch e := e.(type) {
	case event.Finished:
		n = Notice{Kind: NoticeCompleted, By: e.Agent}
	case event.GaveUp:
		n = Notice{Kind: NoticeFailed, By: e.Agent, Why: e.Detail}
	case event.Joined:
		if t.State != event.Completed {
			return
		}
		n = Notice{Kind: NoticeCompleted, By: system, Why: e.Why}
	case event.Called:
		n = Notice{Kind: NoticeCancelled, By: e.By, Why: e.Detail}
	case event.Discarded:
		n = Notice{Kind: NoticeCancelled, By: e.By, Why: t.EndedWhy}
	case event.ParkedTask:
		n = Notice{Kind: NoticeParked, By: system, Why: string(e.Cause) + ": " + e.Detail}
	case event.Moved:
		t.noticeMoved(e, was)
		return
	case event.Returned:
		if was.accepted != "" {
			t.give(Notice{Kind: NoticeTaken, By: cmp.Or(t.Owner, system), Why: "the handoff was taken back: " + e.Why}, was.accepted, 0)
		}
		return
	case event.Started:
		t.dropNotices(func(n Notice) bool { return n.Agent == e.Agent })
		return
	case event.Replayed:
		t.dropNotices(func(n Notice) bool { return n.Kind == NoticeParked })
		return
	default:
		return
	}
	t.noticeEnd(n, was)
}

// system is who does what the server does by itself.
const system = "system"

// noticeEnd tells the agents that a task which has ended or is parked concerns: its owner, a receiver that has accepted, and the
// requester. Parents hear of the ends of their children by other means.
func (t *Task) noticeEnd(n Notice, was holders) {
	if was.owner != n.By {
		t.give(n, was.owner, was.epoch)
	}
	if was.accepted != n.By {
		t.give(n, was.accepted, 0)
	}
	requester, isAgent := strings.CutPrefix(t.Requester, "agent/")
	if isAgent && t.Parent.Task == "" && requester != n.By && requester != was.owner && requester != was.accepted {
		t.give(n, requester, 0)
	}
}

// noticeMoved tells an owner that lost its task without its doing.
func (t *Task) noticeMoved(e event.Moved, was holders) {
	t.dropNotices(func(n Notice) bool { return n.Agent == e.To })
	h := t.Handoff
	if h == nil || !h.Unasked || was.owner == e.To {
		return
	}
	n := Notice{Kind: NoticeTaken, By: e.To, Why: h.Detail}
	if by := cmp.Or(h.Granted, strings.TrimPrefix(h.By, "agent/")); by != "" && by != e.To {
		n.Why = strings.TrimSuffix("by order of "+by+": "+h.Detail, ": ")
	}
	t.give(n, was.owner, was.epoch)
}

// give replaces the notice of an agent; principals that are not agents get none.
func (t *Task) give(n Notice, agent string, epoch uint64) {
	if agentName(agent) == "" {
		return
	}
	t.dropNotices(func(o Notice) bool { return o.Agent == agent })
	t.NoticeCount++
	n.N, n.Agent, n.Epoch = t.NoticeCount, agent, epoch
	t.Notices = append(slices.Clip(t.Notices), n)
}

func (t *Task) dropNotices(which func(Notice) bool) {
	if slices.ContainsFunc(t.Notices, which) {
		t.Notices = slices.DeleteFunc(slices.Clone(t.Notices), which)
	}
}

func (t *Task) onNoticeSeen(e event.NoticeSeen) {
	t.Notices = slices.Clone(t.Notices)
	for i := range t.Notices {
		if n := &t.Notices[i]; n.N == e.Notice {
			n.Seen = true
		}
	}
}

// Notices are the notices of a task, one for each agent that has any.
type Notices []Notice

// To is the notice of an agent, seen or not; nil if it has none.
func (ns Notices) To(agent string) *Notice {
	i := slices.IndexFunc(ns, func(n Notice) bool { return n.Agent == agent })
	if i < 0 || agent == "" {
		return nil
	}
	return &ns[i]
}

// See is the event that an agent has seen its notice with a number; none if it has before. Other notices are refused (not_found).
func (ns Notices) See(agent string, number int) ([]event.Event, error) {
	n := ns.To(agent)
	switch {
	case n == nil || n.N != number:
		return nil, refusal.New(refusal.NotFound, "[check your inbox](inbox)", "%s has no notice %d of this task", agent, number)
	case n.Seen:
		return nil, nil
	}
	return []event.Event{event.NoticeSeen{Notice: n.N, Agent: n.Agent}}, nil
}
