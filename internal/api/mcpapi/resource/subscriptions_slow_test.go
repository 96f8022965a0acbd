//go:build slow

package resource_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
)

func TestAHintComesForWhatIsSubscribedToAndForNothingElse(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, l := h.agent("coder")
		h.add("other")
		mine, another := "trapeze://task/"+h.task("coder"), h.task("coder")
		v := h.visit(s, version)
		defer func() { _ = v.Close(); v.changed() }()
		if err := v.Subscribe(t.Context(), &mcp.SubscribeParams{URI: mine}); err != nil {
			t.Fatal(err)
		}
		v.changed()
		h.task("other") // nothing that the agent may see
		for _, id := range []string{mine[len("trapeze://task/"):], another} {
			if _, err := h.admin.Cancel(t.Context(), id, client.CancelInput{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := v.changed(); !slices.Equal(got, []string{mine}) {
			t.Errorf("it was told of %q", got)
		}
		if err := v.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: mine}); err != nil {
			t.Fatal(err)
		}
		v.changed()
		if n := l.open(); n != 0 {
			t.Errorf("%d streams of events are open for nobody", n)
		}
		l.asked()
		h.task("coder")
		if got := v.changed(); got != nil {
			t.Errorf("who is not subscribed was told of %q", got)
		}
		if asked := l.asked(); asked != nil {
			t.Errorf("nobody is subscribed, and the API is asked %q", asked)
		}
	})
}

func TestAWorkingAgentIsNotifiedThatItsTaskIsCancelledOrTakenAway(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, _ := h.agent("coder")
		h.add("other")
		coder, other := h.caller("coder"), h.caller("other")
		v := h.visit(s, version)
		defer func() { _ = v.Close(); v.changed() }()
		for n, lose := range []func(task string) error{
			func(task string) error {
				_, err := h.admin.Cancel(t.Context(), task, client.CancelInput{})
				return err
			},
			func(task string) error {
				_, err := h.admin.Send(t.Context(), task, client.SendInput{To: []string{"other"}})
				if err == nil {
					_, err = other.Accept(t.Context(), task+".h2", client.AcceptInput{})
				}
				return err
			},
		} {
			task := h.task("coder")
			if _, err := coder.Accept(t.Context(), task+".h1", client.AcceptInput{}); err != nil {
				t.Fatal(err)
			}
			for _, uri := range []string{"trapeze://inbox", "trapeze://task/" + task} {
				if err := v.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
			}
			v.changed()
			if err := lose(task); err != nil {
				t.Fatal(err)
			}
			if got := v.changed(); !slices.Contains(got, "trapeze://inbox") || !slices.Contains(got, "trapeze://task/"+task) {
				t.Errorf("%d: it was told of %q", n, got)
			}
		}
	})
}

func TestWhatIsWatchedForASessionEndsWithIt(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, l := h.agent("coder")
		first, second := h.visit(s, version), h.visit(s, version)
		for _, v := range []*subscriber{first, second} {
			if err := v.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "trapeze://inbox"}); err != nil {
				t.Fatal(err)
			}
		}
		_ = first.Close() // without a word about its subscription
		first.changed()
		if n := l.open(); n != 1 {
			t.Errorf("%d streams of events are open for the one that stays", n)
		}
		h.task("coder")
		if got := second.changed(); !slices.Equal(got, []string{"trapeze://inbox"}) {
			t.Errorf("the one that stays was told of %q", got)
		}
		_ = second.Close()
		second.changed()
		if n := l.open(); n != 0 {
			t.Errorf("%d streams of events are open for nobody", n)
		}
	})
}

func TestWhatCannotBeReadCannotBeSubscribedTo(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, l := h.agent("coder")
		h.add("other")
		foreign := h.task("other")
		v := h.visit(s, version)
		defer func() { _ = v.Close(); v.changed() }()
		for _, uri := range []string{"trapeze://task/" + foreign, "trapeze://task/none", "trapeze://task/..", "trapeze://task/", "trapeze://memory/mem_1", "trapeze://inbox/", "https://example.org"} {
			err := v.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri})
			if err == nil && version < "2026" { // a newer client is only told which of them its stream is about
				t.Errorf("%s was subscribed to", uri)
			}
		}
		h.task("other")
		if got := v.changed(); got != nil {
			t.Errorf("it was told of %q", got)
		}
		if n := l.open(); n != 0 {
			t.Errorf("%d streams of events are open", n)
		}
	})
}

func TestOneStreamServesAllSubscriptionsAndEndsWithTheLast(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, l := h.agent("coder")
		sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Write", Send: &client.SendInput{To: []string{"coder"}}})
		if err != nil {
			t.Fatal(err)
		}
		task := "trapeze://task/" + sent.Task
		one, two := h.visit(s, version), h.visit(s, version)
		one.on(t, "trapeze://inbox", task)
		two.on(t, task)
		settle()
		if l.open() != 1 {
			t.Errorf("%d streams are open", l.open())
		}
		if err := one.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: task}); err != nil {
			t.Fatal(err)
		}
		settle()
		if _, err := h.admin.Withdraw(t.Context(), sent.Handoff, client.CancelInput{}); err != nil {
			t.Fatal(err)
		}
		settle()
		if got := one.changed(); !slices.Equal(got, []string{"trapeze://inbox"}) {
			t.Errorf("one was told of %q", got)
		}
		if got := two.changed(); !slices.Equal(got, []string{task}) {
			t.Errorf("two was told of %q", got)
		}
		if err := one.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "trapeze://inbox"}); err != nil {
			t.Fatal(err)
		}
		settle()
		if l.open() != 1 {
			t.Errorf("%d streams are open for the other", l.open())
		}
		_ = two.Close() // without taking its subscription back
		settle()
		if l.open() != 0 {
			t.Errorf("%d streams are open for nobody", l.open())
		}
		_ = one.Close()
		settle()
	})
}

func TestWhatHappenedWhileTheServerWasAwayIsToldOnce(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		h := open(t)
		s, l := h.agent("coder")
		w := h.visit(s, version)
		w.on(t, "trapeze://inbox")
		settle()
		l.cut(true)
		settle()
		for range 3 {
			if _, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Write", Send: &client.SendInput{To: []string{"coder"}}}); err != nil {
				t.Fatal(err)
			}
		}
		settle()
		if got := w.changed(); got != nil {
			t.Errorf("told of %q by a server that was away", got)
		}
		l.cut(false)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := w.changed(); !slices.Equal(got, []string{"trapeze://inbox"}) {
			t.Errorf("told of %q", got)
		}
		_ = w.Close()
		settle()
	})
}

func TestASessionMaySubscribeToSoMuchAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t)
		s, _ := h.agent("coder")
		w := h.visit(s, sessionVersion)
		for i := range 101 {
			made, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Write", Send: &client.SendInput{To: []string{"coder"}}})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "trapeze://task/" + made.Task})
			if (err == nil) != (i < 100) {
				t.Fatalf("subscription %d: %v", i+1, err)
			}
		}
		_ = w.Close()
		settle()
	})
}
