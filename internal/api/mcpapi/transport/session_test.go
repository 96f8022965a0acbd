package transport_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

// mostSessions is how many sessions a principal may have.
const mostSessions = 64

func TestTheAdministratorsTokenIsRefusedWithWhatToUse(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("a", client.Me{Workspace: "default", Role: client.RoleAdmin, Name: "local"})
		r := h.send(token, "", whoami(2, 0))
		if r.status != http.StatusForbidden || !strings.Contains(r.body, "trapeze token create --agent NAME") || !strings.Contains(r.body, `"id":2`) {
			t.Errorf("it is answered with %d %s", r.status, r.body)
		}
	})
}

func TestEachCallOfASessionIsMadeWithItsOwnToken(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		first, second := h.token("first", coder), h.token("second", coder)
		session := h.session(first)
		for token, id := range map[string]string{first: "first", second: "second"} {
			if r := h.send(token, session, whoami(2, 0)); !strings.Contains(r.body, `"text":"`+id+`"`) {
				t.Errorf("a call with the %s token was made by %s", id, r.body)
			}
		}
		h.revoke(first)
		if r := h.send(first, session, whoami(3, 0)); r.status != http.StatusUnauthorized {
			t.Errorf("a revoked token is let into a session that goes on: %d %s", r.status, r.body)
		}
		if r := h.send(second, session, whoami(4, 0)); r.status != http.StatusOK {
			t.Errorf("the session of a token that was revoked does not go on with another: %d %s", r.status, r.body)
		}
	})
}

func TestASessionIsThereForNobodyElse(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		reads := coder
		reads.Scopes = []string{"trapeze:read"}
		acts := coder
		acts.Scopes = []string{"trapeze:act", "trapeze:read"}
		session := h.session(h.token("acts", acts))
		acts.Scopes = []string{"trapeze:read", "trapeze:act"}
		if r := h.send(h.token("renewed", acts), session, whoami(2, 0)); r.status != http.StatusOK {
			t.Errorf("the same scopes in another order: %d %s", r.status, r.body)
		}
		person, workspace, role := acts, acts, acts
		person.Person, workspace.Workspace, role.Role = "ann", "elsewhere", client.RoleOperator
		for who, me := range map[string]client.Me{
			"fewer scopes": reads, "all scopes": coder, "another agent": agent("thief"), "a name that spells another's": agent(`coder" "trapeze:act" "trapeze:read`),
			"a person at the client": person, "another workspace": workspace, "another role": role,
		} {
			token := h.token(strings.ReplaceAll(who, " ", "-"), me)
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				r := h.ask(method, token, session, whoami(2, 0))
				if nothing := h.ask(method, token, "never-was", whoami(2, 0)); r.status != http.StatusNotFound || r.body != nothing.body {
					t.Errorf("to %s, %s, the session is not as one that never was: %d %s", who, method, r.status, r.body)
				}
			}
		}
	})
}

func TestTheLongestUnusedSessionMakesRoomForANewOne(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token, other := h.token("t", coder), h.token("o", agent("other"))
		apart := h.session(other)
		var all []string
		for range mostSessions {
			all = append(all, h.session(token))
			time.Sleep(time.Minute)
		}
		h.send(token, all[0], whoami(2, 0)) // so that it is not the longest unused
		newest := h.session(token)
		synctest.Wait()
		for session, status := range map[string]int{all[0]: http.StatusOK, all[1]: http.StatusNotFound, all[2]: http.StatusOK, newest: http.StatusOK} {
			if r := h.send(token, session, whoami(3, 0)); r.status != status {
				t.Errorf("session %d of %d: %d %s", 1+indexOf(all, session), len(all), r.status, r.body)
			}
		}
		if r := h.send(other, apart, whoami(2, 0)); r.status != http.StatusOK {
			t.Errorf("the session of another was ended: %d %s", r.status, r.body)
		}
	})
}

func indexOf(all []string, one string) int {
	for i, x := range all {
		if x == one {
			return i
		}
	}
	return -1
}

func TestASessionInUseIsNotEndedForAnother(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		var ends []func()
		var all []string
		for range mostSessions - 1 {
			all = append(all, h.session(token))
			ends = append(ends, h.listen(token, all[len(all)-1]))
		}
		calling := h.session(token)
		call := make(chan reply, 1)
		go func() { call <- h.send(token, calling, whoami(2, 60)) }()
		time.Sleep(time.Second)
		if r := h.begin(token); r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" {
			t.Errorf("one more while all are in use: %d %s", r.status, r.body)
		}
		if r := <-call; r.status != http.StatusOK || !strings.Contains(r.body, `"text":"t"`) {
			t.Errorf("the call under way was answered: %d %s", r.status, r.body)
		}
		h.session(token) // in the place of the one that called
		if r := h.send(token, calling, whoami(3, 0)); r.status != http.StatusNotFound {
			t.Errorf("the one in whose place another is: %d %s", r.status, r.body)
		}
		for _, end := range ends {
			end()
		}
		if r := h.send(token, all[0], whoami(2, 0)); r.status != http.StatusOK {
			t.Errorf("a session that was in use was ended: %d %s", r.status, r.body)
		}
	})
}

func TestASessionThatIsEndedMakesRoom(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		var all []string
		for range mostSessions {
			all = append(all, h.session(token))
			time.Sleep(time.Minute)
		}
		if r := h.ask(http.MethodDelete, token, all[5], ""); r.status != http.StatusNoContent {
			t.Fatalf("DELETE: %d %s", r.status, r.body)
		}
		h.session(token)
		if r := h.send(token, all[0], whoami(2, 0)); r.status != http.StatusOK {
			t.Errorf("the longest unused was ended although there was room: %d %s", r.status, r.body)
		}
	})
}

func TestWhatGoesOnInTheBackgroundHasTheNewestTokenOrNone(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		first := h.token("first", coder)
		session := h.session(first)
		end := h.listen(first, session)
		c := h.clients[0]
		asks := func() string {
			me, err := c.Me(context.Background())
			if err != nil {
				return "nobody"
			}
			return me.Token
		}
		second := h.token("second", coder)
		h.send(second, session, whoami(2, 0))
		if who := asks(); who != "second" {
			t.Errorf("after two tokens were shown %s asks", who)
		}
		h.revoke(second)
		if who := asks(); who != "nobody" {
			t.Errorf("after the newest was revoked %s asks", who)
		}
		time.Sleep(time.Minute)
		if who := asks(); who != "first" {
			t.Errorf("%s asks, although a stream is open with a token that counts", who)
		}
		h.revoke(first)
		time.Sleep(time.Minute)
		end()
		if who := asks(); who != "nobody" {
			t.Errorf("after all were revoked %s asks", who)
		}
		h.send(h.token("third", coder), session, whoami(3, 0))
		if who := asks(); who != "third" {
			t.Errorf("after another was shown %s asks", who)
		}
		if len(h.clients) != 1 {
			t.Errorf("%d servers were made for one principal", len(h.clients))
		}
	})
}

func TestWhatATokenHoldsOpenEndsWithIt(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		revoked, good := h.token("revoked", coder), h.token("good", coder)
		session, stays := h.session(revoked), h.session(good)
		streams := h.listen(good, stays)
		defer streams()
		ended := make(chan reply, 2)
		go func() { ended <- h.send(revoked, session, whoami(2, 3600)) }()
		go func() { ended <- h.ask(http.MethodGet, revoked, session, "") }()
		time.Sleep(time.Second)
		h.revoke(revoked)
		revocation := time.Now()
		for range cap(ended) {
			if r := <-ended; time.Since(revocation) > time.Minute || strings.Contains(r.body, `"text"`) {
				t.Errorf("a revoked token held something open for %s: %s", time.Since(revocation), r.body)
			}
		}
		if r := h.send(good, stays, whoami(2, 0)); r.status != http.StatusOK {
			t.Errorf("with it ended the session of a token that counts: %d %s", r.status, r.body)
		}
	})
}

func TestAnAgentIsPresentWhileItsClientListens(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		reads, person := agent("reads"), client.Me{Workspace: "default", Role: client.RoleOperator, Name: "ann"}
		reads.Scopes = []string{"trapeze:read"}
		for id, me := range map[string]client.Me{"agent": coder, "reads": reads, "person": person} {
			token := h.token(id, me)
			end := h.listen(token, h.session(token))
			time.Sleep(time.Minute)
			end()
		}
		time.Sleep(time.Hour)
		if n := len(h.beats); n < 2 || n > 4 || slices.ContainsFunc(h.beats, func(id string) bool { return id != "agent" }) {
			t.Errorf("heartbeats of %v", h.beats)
		}
	})
}

func TestACallWaitsUntilItsSessionOfBeforeARestartIsReady(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		session := h.session(token)
		h.restart()
		h.begins = time.Second
		answers := make(chan reply, 3)
		for i := range cap(answers) {
			go func() { answers <- h.send(token, session, whoami(2+i, 0)) }()
			synctest.Wait() // the first is beginning it again
		}
		for range cap(answers) {
			if r := <-answers; r.status != http.StatusOK || !strings.Contains(r.body, `"text":"t"`) {
				t.Errorf("%d %s", r.status, r.body)
			}
		}
	})
}

func TestASessionContinuesAfterARestart(t *testing.T) {
	run(t, transport.Options{}, func(t *testing.T, h *harness) {
		token := h.token("t", coder)
		session := h.session(token)
		ended := h.session(token)
		h.ask(http.MethodDelete, token, ended, "")
		if r := h.send(token, ended, whoami(2, 0)); r.status != http.StatusNotFound {
			t.Errorf("a session that was ended continues: %d %s", r.status, r.body)
		}
		h.restart()
		others := h.token("another-token", coder)
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			if r := h.ask(method, others, session, whoami(2, 0)); r.status != http.StatusNotFound {
				t.Errorf("%s with a token that did not begin it: %d %s", method, r.status, r.body)
			}
		}
		made := strings.NewReplacer("A", "B", "B", "A").Replace(session)
		if made == session {
			made = "A" + session[1:]
		}
		if r := h.send(token, made, whoami(2, 0)); r.status != http.StatusNotFound {
			t.Errorf("an id that no server gave: %d %s", r.status, r.body)
		}
		answers := make(chan reply, 2)
		for i := range cap(answers) { // at once
			go func() { answers <- h.send(token, session, whoami(3+i, 1)) }()
		}
		for range cap(answers) {
			if r := <-answers; r.status != http.StatusOK || !strings.Contains(r.body, `"text":"t"`) {
				t.Errorf("a call in a session of before: %d %s", r.status, r.body)
			}
		}
		h.listen(token, session)()
		h.restart()
		h.listen(token, session)() // its own stream first
		if r := h.ask(http.MethodDelete, token, session, ""); r.status != http.StatusNoContent {
			t.Errorf("to end it: %d %s", r.status, r.body)
		}
		h.restart()
		for range mostSessions {
			h.session(token)
		}
		if r := h.send(token, session, whoami(4, 0)); r.status != http.StatusOK {
			t.Errorf("in place of the longest unused: %d %s", r.status, r.body)
		}
	})
}
