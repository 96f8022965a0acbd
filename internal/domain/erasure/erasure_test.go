package erasure_test

import (
	"errors"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
)

var (
	now = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	ann = identity.Principal{Workspace: "default", Role: identity.Operator, Name: "ann"}
	bot = identity.Principal{Workspace: "default", Role: identity.Agent, Name: "bot"}
	tag = erasure.Subject{erasure.Tag, "patient-4711"}
	one = erasure.Subject{erasure.Task, "task_1"}
)

func do(t *testing.T, s erasure.State, c erasure.Command, want refusal.Code) erasure.State {
	t.Helper()
	events, err := erasure.Decide(s, c, now)
	var r *refusal.Error
	if errors.As(err, &r) && r.Code == want {
		return s
	}
	if err != nil || want != "" {
		t.Fatalf("%T: %v, want %q", c, err, want)
	}
	for _, e := range events {
		s = erasure.Fold(s, e)
	}
	return s
}

func TestAHoldBeatsAnErasure(t *testing.T) {
	erase := erasure.Erase{By: ann, Subject: one, Why: "asked to", Names: []erasure.Subject{one, tag}, Streams: []string{"default/task/task_1"}}
	s := do(t, erasure.State{}, erasure.SetHold{ann, tag, "lawsuit"}, "")
	do(t, s, erasure.SetHold{ann, tag, "lawsuit"}, refusal.Conflict)
	do(t, s, erase, refusal.Conflict)
	do(t, s, erasure.LiftHold{bot, tag, "over"}, refusal.NotPermitted)
	do(t, s, erasure.LiftHold{ann, one, "over"}, refusal.NotFound)
	s = do(t, s, erasure.LiftHold{ann, tag, "over"}, "")
	s = do(t, s, erase, "")
	if p := s.Pending(); len(p) != 1 || p[0].N != 1 || p[0].Subject != "task/task_1" {
		t.Fatalf("%+v", p)
	}
	s = do(t, s, erasure.Finish{erasure.Finished{N: 1, Keys: 1}}, "")
	s = do(t, s, erasure.Finish{erasure.Finished{N: 1, Keys: 9}}, "")
	if len(s.Pending()) != 0 || s.Erasures[0].Finished.Keys != 1 {
		t.Errorf("%+v", s)
	}
}

func TestOnlyOperatorsEraseAndSayWhy(t *testing.T) {
	do(t, erasure.State{}, erasure.Erase{By: bot, Subject: one, Why: "x"}, refusal.NotPermitted)
	do(t, erasure.State{}, erasure.Erase{Subject: one, Why: "x"}, refusal.Unauthenticated)
	do(t, erasure.State{}, erasure.Erase{By: ann, Subject: one, Why: " "}, refusal.Invalid)
	do(t, erasure.State{}, erasure.SetHold{ann, one, ""}, refusal.Invalid)
	do(t, erasure.State{}, erasure.Erase{By: ann, Subject: one, Why: "x", Streams: make([]string, erasure.MaxStreams+1)}, refusal.TooLarge)
}

func TestSubjectsAreParsed(t *testing.T) {
	for text, want := range map[string]string{
		"task_1": "task/task_1", "task/task_1": "task/task_1", "mem_1": "memory/mem_1", "tag/patient-4711": "tag/patient-4711",
		"conversation/c1": "conversation/c1", "subject/patient/4711": "subject/patient/4711", "subject/": "", "subject/a//b": "", "subject/a b": "", "subject/ä": "", "patient-4711": "", "": "", "tag/": "", "task/a/b": "", "agent/ann": "",
	} {
		s, err := erasure.ParseSubject(text)
		if err == nil && s.String() != want || err != nil && want != "" {
			t.Errorf("%q is %q, %v", text, s, err)
		}
	}
}
