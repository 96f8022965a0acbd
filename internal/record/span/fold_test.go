package span_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/span"
)

const (
	trace   = "0af7651916cd43dd8448eb211c80319c"
	create  = "00-" + trace + "-b7ad6b7169203331-01"
	resend  = "00-" + trace + "-c7ad6b7169203331-01"
	foreign = "00-11f7651916cd43dd8448eb211c80319c-d7ad6b7169203331-01"
)

var began = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// story is the entries of a task, a minute apart.
func story(t testing.TB, steps ...[]event.Event) []ledger.Entry {
	t.Helper()
	codec := ledger.NewCodec(event.Events...)
	list := make([]ledger.Entry, len(steps))
	for i, events := range steps {
		encoded, err := codec.EncodeAll(events)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = ledger.Entry{
			Position: ledger.Position(10 + i), Stream: ledger.StreamOf("default", "task", taskID), Version: uint64(i + 1), //nolint:gosec // few
			Time: began.Add(time.Duration(i) * time.Minute), Actor: ledger.Actor{Principal: "agent/ann"}, Events: encoded,
		}
	}
	return list
}

var taskID = event.TaskID([16]byte{1})

func of(events ...event.Event) []event.Event { return events }

func sealed(trace string) event.Sealed {
	return event.Sealed{Digest: "sha256:1", Trace: trace, Bytes: []byte(`{"trace":{"traceparent":"` + foreign + `"}}`)}
}

// eventful has every event that makes spans.
func eventful(t testing.TB) []ledger.Entry {
	offer := func(n, offer int, to string) event.OfferMade {
		return event.OfferMade{Handoff: n, Offer: offer, To: []string{to}}
	}
	return story(t,
		of(event.Created{Task: taskID, Conversation: "talk"}, event.Started{Agent: "ann"}, sealed(create)),
		of(sealed(resend), event.HandoffRequested{Handoff: 1, Kind: event.Warm, Reason: event.ReasonSpecialization, From: "agent/ann"}, event.ApprovalAsked{}),
		of(event.Approved{By: "operator/olga"}, event.OfferMade{Handoff: 1, Offer: 1, To: []string{"bob"}}),
		of(event.Seen{Handoff: 1, Offer: 1, Agent: "bob"}),
		of(event.Unanswered{Handoff: 1, Offer: 1, Agent: "bob"}, event.RetryScheduled{Handoff: 1, Agent: "bob"}),
		of(offer(1, 2, "bob")),
		of(event.OfferExpired{Handoff: 1, Offer: 2, To: []string{"bob"}}, offer(1, 3, "cat")),
		of(event.Seen{Handoff: 1, Offer: 3, Agent: "cat"}),
		of(event.RejectedOffer{Handoff: 1, Offer: 3, Agent: "cat", Why: event.NotCapable}, event.Returned{Handoff: 1, Outcome: event.Rejected}),
		of(sealed(foreign), event.HandoffRequested{Handoff: 2, Kind: event.Cold, Reason: event.ReasonUserRequest, From: "agent/ann"}, offer(2, 1, "dan")),
		of(event.OfferShed{Handoff: 2, Offer: 1, Agent: "dan", To: []string{"eve"}}, offer(2, 2, "eve")),
		of(event.Rendered{Handoff: 2, Tokens: 700, Completeness: 0.5}, event.Seen{Handoff: 2, Offer: 2, Agent: "eve"}),
		of(event.Acknowledged{Handoff: 2, Offer: 2, Agent: "eve"}),
		of(event.Confirmed{Handoff: 2, By: "agent/ann"}, event.Moved{Handoff: 2, From: "ann", To: "eve", Epoch: 2}),
		of(event.OwnerStuck{Agent: "eve"}),
		of(event.LeaseLost{Agent: "eve"}, event.HandoffRequested{Handoff: 3, Kind: event.Warm, Reason: event.ReasonRecovery, Recovery: true, From: "agent/eve"}),
		of(event.ParkedTask{Cause: event.ParkLimit}),
		of(event.Replayed{By: "operator/olga"}),
		of(event.TicketOpened{Ticket: 1, Kind: event.TicketQuestion}),
		of(event.TicketClosed{Ticket: 1, Outcome: event.TicketAnswered}),
		of(event.Spawned{Group: 1, Children: []event.NewChild{{Task: event.ChildID(taskID, 1)}, {Task: event.ChildID(taskID, 2)}}}),
		of(event.ChildEnded{Child: event.ChildID(taskID, 1), State: event.Parked}),
		of(event.ChildEnded{Child: event.ChildID(taskID, 1), State: event.Completed}),
		of(event.ChildEnded{Child: event.ChildID(taskID, 2), State: event.Failed}, event.Joined{}),
		of(event.GaveUp{Agent: "eve", Detail: "a secret"}),
		of(event.NoticeSeen{Notice: 1, Agent: "ann"}),
	)
}

// fold returns the spans of entries from a number on, of a fold that gets no others, but can read them.
func fold(t testing.TB, list []ledger.Entry, from int) (all []span.Span) {
	t.Helper()
	f := span.NewFold(func(_ context.Context, _ ledger.Stream, after ledger.Position, limit int) (page []ledger.Entry, err error) {
		for _, e := range list {
			if e.Position > after && len(page) < min(limit, 3) {
				page = append(page, e)
			}
		}
		return page, nil
	})
	for i := from; i < len(list); i++ {
		spans, err := f.Add(t.Context(), &list[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range spans {
			s.Values = slices.Clone(s.Values) // those of the fold are reused
			all = append(all, s)
		}
	}
	return all
}

// show writes spans: name, minutes from and until, the name of the parent, and why it failed.
func show(all []span.Span) string {
	names := map[span.ID]string{}
	for i := range all {
		if all[i].Step != span.TaskStep && all[i].Step != span.OwnerStep && all[i].Step != span.HandoffStep {
			continue
		}
		names[all[i].ID] = all[i].Name
	}
	var b strings.Builder
	for i := range all {
		s := &all[i]
		parent := names[s.Parent]
		if parent == "" {
			parent = fmt.Sprintf("%x", s.Parent[:1])
		}
		fmt.Fprintf(&b, "%s %g-%g < %s", s.Name, s.Start.Sub(began).Minutes(), s.End.Sub(began).Minutes(), parent)
		if s.Failed != "" {
			b.WriteString(" ! " + s.Failed)
		}
		for _, l := range s.Links {
			fmt.Fprintf(&b, " ~ %x", l.Span[:1])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestEachStepOfATaskIsASpan(t *testing.T) {
	all := fold(t, eventful(t), 0)
	const want = `handoff request 1-1 < handoff
handoff approval 1-2 < handoff
handoff seen 2-3 < handoff
handoff expire 2-4 < handoff ! unanswered
handoff retry 4-5 < handoff
handoff expire 5-6 < handoff ! expired
handoff seen 6-7 < handoff
handoff reject 7-8 < handoff
handoff return 8-8 < handoff ! rejected
handoff 1-8 < c7 ! rejected
handoff request 9-9 < handoff ~ d7
handoff shed 9-10 < handoff
handoff seen 10-11 < handoff
handoff accept 11-12 < handoff
handoff confirm 12-13 < handoff
handoff complete 13-13 < handoff
invoke_agent ann 0-13 < task
handoff 9-13 < invoke_agent ann ~ d7
owner stuck 14-14 < invoke_agent eve ! stuck
lease lost 15-15 < invoke_agent eve ! lease_lost
handoff request 15-15 < handoff
handoff 15-16 < invoke_agent eve ! parked
task park 16-16 < invoke_agent eve ! parked
task replay 16-17 < invoke_agent eve
ticket 18-19 < invoke_agent eve
delegation 20-22 < invoke_agent eve
delegation 20-23 < invoke_agent eve ! failed
invoke_agent eve 13-24 < handoff
task 0-24 < b7 ! failed
`
	if got := show(all); got != want {
		t.Errorf("the spans are\n%s", got)
	}
	ids := map[span.ID]bool{}
	for i := range all {
		s := &all[i]
		if ids[s.ID] {
			t.Errorf("two spans have the id of %s", s.Name)
		}
		ids[s.ID] = true
		if got := fmt.Sprintf("%x", s.Trace); got != trace || !s.Sampled {
			t.Errorf("%s is in trace %s, sampled: %v", s.Name, got, s.Sampled)
		}
		allowed := append(span.Common(), s.Step.Attributes...)
		for _, v := range s.Values {
			ok := strings.Contains(v.Text, "secret")
			for _, a := range allowed {
				ok = ok || a == v.Of
			}
			if !ok || strings.Contains(v.Text, "secret") {
				t.Errorf("%s has %s = %q", s.Name, v.Of.Name, v.Text)
			}
		}
	}
}

func TestAFoldThatBeginsInTheMiddleMakesTheSameSpans(t *testing.T) {
	list := eventful(t)
	whole := fold(t, list, 0)
	for from := range list {
		rest := fold(t, list, from)
		if want := whole[len(whole)-len(rest):]; len(rest) > 0 && !reflect.DeepEqual(rest, want) {
			t.Errorf("from entry %d on:\n%s", from, show(rest))
		}
		skipped := 0
		for i := range whole {
			if !whole[i].End.Before(list[from].Time) {
				break
			}
			skipped++
		}
		if len(rest) != len(whole)-skipped {
			t.Errorf("from entry %d on: %d spans, want %d", from, len(rest), len(whole)-skipped)
		}
	}
}

func TestATaskWithoutATraceHasOneOfItsOwn(t *testing.T) {
	list := story(t, of(event.Created{Task: taskID}, sealed("")), of(sealed(create), event.HandoffRequested{Handoff: 1, From: "agent/ann"}), of(event.Called{By: "agent/ann"}))
	all := fold(t, list, 0)
	for i := range all {
		if s := &all[i]; !s.Derived || s.Trace != all[0].Trace || fmt.Sprintf("%x", s.Trace) == trace {
			t.Errorf("%s: %+v", s.Name, s)
		}
	}
	if len(all) != 3 || len(all[0].Links) != 1 {
		t.Errorf("the spans are\n%s", show(all))
	}
}

func TestAHandoffSaysHowItsEnvelopeWasPackedThatCameWithTheTask(t *testing.T) {
	list := story(t,
		of(event.Created{Task: taskID}, event.HandoffRequested{Handoff: 1, From: "agent/ann"}, event.OfferMade{Handoff: 1, Offer: 1, To: []string{"bob"}}),
		of(event.Acknowledged{Handoff: 1, Offer: 1, Agent: "bob"}, event.Confirmed{Handoff: 1, Auto: true}, event.Moved{Handoff: 1, To: "bob", Epoch: 1},
			event.Rendered{Handoff: 1, Offer: 1, Tokens: 700, Completeness: 0.5}))
	all := fold(t, list, 0)
	i := slices.IndexFunc(all, func(s span.Span) bool { return s.Name == "handoff" })
	if i < 0 || !slices.Contains(all[i].Values, span.Value{Of: span.Tokens, Number: 700}) || !slices.Contains(all[i].Values, span.Value{Of: span.Completeness, Number: 0.5}) {
		t.Errorf("%+v", all)
	}
}
