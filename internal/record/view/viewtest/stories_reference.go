package viewtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// sha is a digest in which a letter is repeated.
func sha(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// refers requests a handoff by an envelope that refers to artifacts, and turns it down.
func (s *stage) refers(task, to string, digests ...string) {
	s.Helper()
	r := s.to(task, to)
	var list []string
	for _, d := range digests {
		list = append(list, fmt.Sprintf(`{"digest":%q,"name":"a \"thing\""}`, d))
	}
	r.Envelope.Bytes = fmt.Appendf(nil, `{"artifacts":[%s],"task":{"data":{"artifacts":[{"digest":%q}]},"intent":"\"artifacts\":["},"version":"1.1"}`,
		strings.Join(list, ","), sha("f"))
	s.do(task, r, handoff.Reject{By: agentOf(to), Handoff: s.next(task), Reason: event.Refused})
}

func referenceStory(s *stage) {
	for n := 1; n <= 3; n++ {
		s.create(n, operator)
	}
	s.refers(id(1), "bob", sha("a"), sha("b"))
	s.refers(id(2), "cy", sha("a"))
	s.refers(id(3), "bob")
	want := func(digest string, f view.ReferenceFilter, want ...string) {
		s.Helper()
		if got, err := s.views.ReferringTasks(s.ctx, s.ws, digest, f); err != nil || !slices.Equal(got, want) {
			s.Errorf("%.8s, %+v: got %q, %v; want %q", digest, f, got, err, want)
		}
	}
	want(sha("a"), view.ReferenceFilter{}, id(2), id(1))
	want(sha("a"), view.ReferenceFilter{Limit: 1}, id(2))
	want(sha("a"), view.ReferenceFilter{After: id(2)}, id(1))
	want(sha("a"), view.ReferenceFilter{Involving: "bob"}, id(1))
	want(sha("a"), view.ReferenceFilter{Involving: "agent/cy"}, id(2))
	want(sha("a"), view.ReferenceFilter{Involving: "operator/olga"}, id(2), id(1))
	want(sha("a"), view.ReferenceFilter{Involving: "dee"})
	want(sha("b"), view.ReferenceFilter{}, id(1))
	want(sha("f"), view.ReferenceFilter{})
	referred := func(digest string, want bool) {
		s.Helper()
		got, at, err := s.views.IsReferred(s.ctx, s.ws, digest)
		if err != nil || got != want || at != s.views.Position() {
			s.Errorf("%.8s at %d of %d: %v, %v", digest, at, s.views.Position(), got, err)
		}
	}
	referred(sha("b"), true)
	referred(sha("c"), false)
	// Later envelopes add to what the task refers to, and take nothing away.
	s.do(id(1), handoff.Replay{By: operator})
	s.refers(id(1), "cy", sha("c"))
	want(sha("c"), view.ReferenceFilter{}, id(1))
	want(sha("b"), view.ReferenceFilter{Involving: "cy"}, id(1))
	s.do(id(1), handoff.Cancel{By: operator})
	referred(sha("b"), true)
	s.ws = "other"
	want(sha("a"), view.ReferenceFilter{})
	referred(sha("a"), false)
	s.ws = "main"
}

// next is the number of a task's next handoff.
func (s *stage) next(task string) int {
	s.Helper()
	if h := s.task(task).Handoff; h != nil {
		return h.N + 1
	}
	return 1
}
