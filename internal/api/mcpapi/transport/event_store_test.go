package transport_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

// cutOff makes a call that takes a minute and loses its line after a second. It gives the id of the last event that came.
func (h *harness) cutOff(token, session string, id int) string {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Second)
	defer cancel()
	l := h.open(ctx, http.MethodPost, token, session, whoami(id, 60))
	defer func() { _ = l.body.Close() }()
	b := make([]byte, 4096)
	n, err := l.body.Read(b)
	if err != nil {
		h.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, l.body) // until it is cut
	_, last, ok := strings.Cut(string(b[:n]), "id: ")
	if !ok {
		h.t.Fatalf("no event came: %q", b[:n])
	}
	last, _, _ = strings.Cut(last, "\n")
	return last
}

// missed asks for what came after an event.
func (h *harness) missed(token, session, last string) reply {
	h.t.Helper()
	return h.ask(http.MethodGet, token, session, "", "Last-Event-ID", last)
}

func TestWhoWasCutOffIsToldWhatItMissedHoweverNoisyOthersAre(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token, noisy := h.token("t", coder), h.token("noisy", agent("noisy"))
		session, loud, mine := h.session(token), h.session(noisy), h.session(token)
		last := h.cutOff(token, session, 2)
		for range 500 {
			h.send(noisy, loud, whoami(2, 0))
			h.send(token, mine, whoami(2, 0)) // another session of its own
		}
		time.Sleep(2 * time.Minute)
		if r := h.missed(token, session, last); r.status != http.StatusOK || !strings.Contains(r.body, `"text":"t"`) {
			t.Errorf("it is told %d %s", r.status, r.body)
		}
	})
}

func TestWhatASessionItselfHasPushedOutIsNotTakenForNothing(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		session := h.session(token)
		last := h.cutOff(token, session, 2)
		for range 500 {
			h.send(token, session, whoami(3, 0))
		}
		time.Sleep(2 * time.Minute)
		if r := h.missed(token, session, last); r.status != http.StatusBadRequest {
			t.Errorf("who asks for what is not kept is told %d %s", r.status, r.body)
		}
		if r := h.send(token, session, whoami(4, 0)); r.status != http.StatusOK {
			t.Errorf("the session does not go on: %d %s", r.status, r.body)
		}
	})
}

// The first event of a stream, with which a client can reconnect, has no name: clients of other SDKs have only "message", the default.
func TestTheFirstEventOfAStreamHasAnIDAndNoName(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		r := h.send(token, h.session(token), whoami(2, 0))
		first, rest, _ := strings.Cut(r.body, "\n\n")
		if !strings.HasPrefix(first, "id: ") || !strings.HasSuffix(first, "\ndata: ") || !strings.HasPrefix(rest, "event: message\n") {
			t.Errorf("the stream begins with %q", r.body)
		}
	})
}
