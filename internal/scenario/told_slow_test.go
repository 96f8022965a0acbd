//go:build slow || outside

package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func TestTheHistoryTellsOfHandoffsDelegationsResultsAndRecoveries(t *testing.T) {
	story(t, func(h *harness) {
		h.join("ann", "kid", "backup", "dan")
		h.register("bob", agents.AgentSpec{Fallbacks: []string{"backup"}})
		r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Timeouts: event.Timeouts{Lease: event.Duration(time.Hour)}})
		h.send(h.agent("ann"), r, handoffs.SendInput{To: []string{"bob"}, Reason: event.ReasonSpecialization, Detail: "you know roofs"})
		b := h.acceptPrompt("bob")
		h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"kid"}, Kind: event.Delegation, Content: envelopes.Content{Ask: "Measure the beams."}})
		k := h.acceptPrompt("kid")
		h.complete("kid", k.Receipt, "Nine by twelve.")
		h.inState(r.Task, event.Executing)
		later := h.acceptPrompt("backup") // bob shows no life
		want := []string{
			"ann handed over to bob: specialization, you know roofs\n", "bob delegated to kid: Measure the beams.\n",
			"kid completed the delegated part: Nine by twelve.\n",
		}
		h.says(later.Content.Prompt, append([]string{"# Already done\n"}, want...)...)
		h.send(h.agent("backup"), later.Receipt, handoffs.SendInput{To: []string{"dan"}})
		h.reject("dan", h.wait("dan"), event.Overloaded)
		h.send(h.agent("backup"), later.Receipt, handoffs.SendInput{To: []string{"dan"}})
		d := h.acceptPrompt("dan")
		want = append(want, "backup took over from bob: bob showed no life until its lease ended\n")
		h.says(d.Content.Prompt, want...)
		if strings.Contains(d.Content.Prompt, "## Your part") {
			h.Errorf("what was asked of kid is asked of dan:\n%s", d.Content.Prompt)
		}
		for _, line := range want {
			if n := strings.Count(d.Content.Prompt, line); n != 1 {
				h.Errorf("%q is there %d times:\n%s", line, n, d.Content.Prompt)
			}
		}
	})
}

// offeredBefore records an offer as a server did that recorded no permissions: neither with the handoff nor in its envelope.
func (h *harness) offeredBefore(r taskstore.Receipt, from, to string) {
	h.Helper()
	sealed, err := envelope.Seal(envelope.Envelope{
		Version: "1.1", Handoff: envelope.Header{TaskID: r.Task, HandoffID: event.HandoffID(r.Task, 1), From: from, To: []string{to}, Kind: event.Warm},
		Task: envelope.Task{Intent: h.task(r.Task).Intent},
	}, []byte("0123456789abcdef"))
	if err != nil {
		h.Fatal(err)
	}
	at := h.now().UTC().Truncate(time.Microsecond)
	coded, err := ledger.NewCodec(event.Events...).EncodeAll([]event.Event{
		event.Sealed{Digest: sealed.Digest, Bytes: sealed.Bytes},
		event.HandoffRequested{
			Handoff: 1, Kind: event.Warm, From: from, By: "agent/" + from, Reason: event.ReasonUserRequest, Confirm: event.ConfirmAuto, Envelope: sealed.Digest,
			Candidates: event.Named(to), Timeouts: h.task(r.Task).Times, Before: event.Standing{State: event.Executing, Owner: from, Epoch: r.Epoch}, At: at,
		},
		event.OfferMade{Handoff: 1, Offer: 1, To: []string{to}, Next: 0, Tier: event.TierTarget, Ends: at.Add(time.Hour)},
	})
	if err != nil {
		h.Fatal(err)
	}
	s := ledger.StreamOf(identity.DefaultWorkspace, "task", r.Task)
	for try := range 5 { // reads are recorded on the way
		before, err := h.ledger.Stream(ctx(h), s, 0, 100)
		if err != nil {
			h.Fatal(err)
		}
		last := before[len(before)-1]
		_, err = h.ledger.Append(ctx(h), ledger.Entry{
			Stream: s, Version: last.Version + 1, Time: at, Actor: ledger.Actor{Principal: "agent/" + from}, Events: coded,
		}, last.Position)
		if err == nil {
			return
		}
		if try == 4 {
			h.Fatal(err)
		}
	}
}

func TestTheReceiverOfAnOldOfferReadsNoMoreThanTheTaskAllows(t *testing.T) {
	for name, allowed := range map[string][]string{"none": {}, "some": {"ladder"}, "not restricted": nil} {
		bubble(t, sound(), func(h *harness) {
			h.join("ann", "bob", "cyd")
			r := h.create(h.agent("ann"), tasks.CreateInput{Intent: "fix the roof", Start: true, Permissions: allowed})
			h.offeredBefore(r, "ann", "bob")
			b := h.acceptPrompt("bob")
			if got := inPrompt(b.Content.Prompt); !within(got.permissions, allowed) || (got.permissions == nil) != (allowed == nil) {
				h.Errorf("%s: the prompt allows %#v:\n%s", name, got.permissions, b.Content.Prompt)
			}
			if got := inDocument(packed(h, *b.Content)); !within(got.permissions, allowed) {
				h.Errorf("%s: the envelope allows %#v", name, got.permissions)
			}
			h.send(h.agent("bob"), b.Receipt, handoffs.SendInput{To: []string{"cyd"}})
			if got := inPrompt(h.acceptPrompt("cyd").Content.Prompt); !within(got.permissions, allowed) {
				h.Errorf("%s: the next prompt allows %#v", name, got.permissions)
			}
		})
	}
}
