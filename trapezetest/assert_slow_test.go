//go:build slow

package trapezetest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	kit "github.com/trapezehq/trapeze/trapezetest"
)

// witness is a T that remembers what it is told, in place of the test of a user.
type witness struct {
	*testing.T
	failures, logs []string
}

func (w *witness) Errorf(format string, args ...any) {
	w.failures = append(w.failures, fmt.Sprintf(format, args...))
}

func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	runtime.Goexit()
}

func (w *witness) Logf(format string, args ...any) {
	w.logs = append(w.logs, fmt.Sprintf(format, args...))
}

// watched runs a test of a user.
func watched(t *testing.T, test func(t kit.T)) *witness {
	w := &witness{T: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(w)
	}()
	<-done
	return w
}

// A plant is a chain with an agent that breaks what an assertion asserts.
type plant struct {
	name   string
	broken []kit.Turn // of the second of three agents
	spec   client.AgentSpec
	last   []kit.Step
	check  func(c *kit.Chain) bool
	want   string // in the failure
	story  string // in the story
}

func plants(admin func() *client.Client) []plant {
	long := strings.Repeat("the oven was cold that morning and nobody looked ", 30)
	lift := func(ctx context.Context, j *kit.Job) error {
		_, err := admin().Lift(ctx, j.Task, "limit", "planted")
		return err
	}
	return []plant{
		{
			name: "completed", broken: []kit.Turn{kit.Accept(kit.Fail("no money"))},
			check: (*kit.Chain).Completed, want: "is failed, not completed", story: "task-failed: no money",
		},
		{
			name: "owners", broken: []kit.Turn{kit.Accept(kit.HandOn("clerk"))},
			check: func(c *kit.Chain) bool { return c.Owners("desk", "middle", "cashier") },
			want:  "held by desk, middle, clerk; it should have been by desk, middle, cashier", story: "hop 3: middle to clerk",
		},
		{
			name: "a fact that was reworded", broken: []kit.Turn{kit.Accept(kit.Fact("price", "it was cheap"), kit.HandOn("cashier"))},
			check: func(c *kit.Chain) bool { return c.Survived() },
			want:  `hop 3, middle to cashier: fact price "it cost 30 euros" was reworded: now "it was cheap"`, story: `LOST  fact price "it cost 30 euros" was reworded`,
		},
		{
			name:   "a decision that was superseded",
			broken: []kit.Turn{kit.Accept(kit.Send(client.SendInput{To: []string{"cashier"}, Content: client.Content{Decisions: []client.Point{{ID: "new", Text: "a voucher", Supersedes: "way"}}}}))},
			check:  func(c *kit.Chain) bool { return c.Survived("way") },
			want:   `decision way "by transfer" was superseded: now "a voucher"`, story: `LOST  decision way "by transfer"`,
		},
		{
			name: "a constraint that was lifted", broken: []kit.Turn{kit.Accept(kit.Do("lift", lift), kit.HandOn("cashier"))},
			check: func(c *kit.Chain) bool { return c.Survived("limit") },
			want:  `hop 3, middle to cashier: constraint limit "at most 50 euros" was dropped`, story: `LOST  constraint limit`,
		},
		{
			name:   "a fact that a small budget left out",
			broken: []kit.Turn{kit.Accept(kit.Fact("long", long), kit.Send(client.SendInput{To: []string{"cashier"}, Pack: client.Pack{Tokens: 250}}))},
			check:  func(c *kit.Chain) bool { return c.Survived("long") },
			want:   `was omitted (budget)`, story: "LOST  fact long",
		},
		{
			name: "a fact that never was", broken: []kit.Turn{kit.Accept(kit.HandOn("cashier"))},
			check: func(c *kit.Chain) bool { return c.Survived("ghost") },
			want:  "no constraint, fact or decision ghost was ever handed on", story: "hop 3: middle to cashier",
		},
		{
			name: "too many tokens", broken: []kit.Turn{kit.Accept(kit.Fact("long", long), kit.HandOn("cashier"))},
			check: func(c *kit.Chain) bool { return c.TokensAtMost(250) },
			want:  "hop 3, middle to cashier: the prompt has ", story: "tokens of 100000",
		},
		{
			name: "tokens that nobody counted", broken: []kit.Turn{kit.Accept(kit.HandOn("cashier"))}, spec: client.AgentSpec{Description: "without a window"},
			check: func(c *kit.Chain) bool { return c.TokensAtMost(100_000) },
			want:  "hop 2, desk to middle: the tokens were not counted", story: "hop 2: desk to middle (warm, user_request)\n",
		},
		{
			name: "a dead letter", broken: []kit.Turn{kit.Accept(kit.Die())},
			check: (*kit.Chain).NothingParked, want: "is in the dead letters: ", story: "middle           died",
		},
		{
			name: "a refusal", broken: []kit.Turn{kit.Accept(kit.HandOn("cashier"), kit.Complete("done twice"))},
			check: (*kit.Chain).NoRefusals, want: "middle: complete was refused: ", story: "complete was refused",
		},
		{
			name: "a flood", broken: []kit.Turn{kit.Accept(kit.Flood("clerk", 3), kit.HandOn("cashier"))},
			check: (*kit.Chain).NoRefusals, want: "middle: flooded clerk with 3 tasks", story: "flooded clerk with 3 tasks",
		},
	}
}

// resultPlants are those whose result is wrong.
func resultPlants() []plant {
	return []plant{
		{
			name: "a result about something else", broken: []kit.Turn{kit.Accept(kit.HandOn("cashier"))}, last: []kit.Step{kit.Complete("have a nice day")},
			check: func(c *kit.Chain) bool { return c.ReflectsIntent() },
			want:  "does not reflect the intent \"Refund order 4711 of the bakery\": it lacks 4711, refund, order, bakery", story: `result: "have a nice day"`,
		},
		{
			name: "a result that a judge does not like", broken: []kit.Turn{kit.Accept(kit.HandOn("cashier"))},
			check: func(c *kit.Chain) bool { return c.ReflectsIntent(kit.MentionsAll("bakery", "IBAN")) },
			want:  "it lacks IBAN", story: "hop 3: middle to cashier",
		},
		{
			name: "no result", broken: []kit.Turn{kit.Accept(kit.Fail("no money"))},
			check: func(c *kit.Chain) bool { return c.ReflectsIntent() }, want: "has no result", story: "failed",
		},
	}
}

func TestEachAssertionFailsForAnAgentThatBreaksWhatItAsserts(t *testing.T) {
	t.Parallel()
	var s *kit.Server // of the case
	for _, c := range append(plants(func() *client.Client { return s.Admin() }), resultPlants()...) {
		t.Run(c.name, func(t *testing.T) {
			if c.spec.Description == "" {
				c.spec = window
			}
			if c.last == nil {
				c.last = refunded
			}
			w := watched(t, func(t kit.T) {
				s = kit.Start(t)
				if c.check(refund(s, c.broken, c.spec, c.last)) {
					t.Errorf("the assertion holds")
				}
			})
			if failures := strings.Join(w.failures, "\n"); !strings.Contains(failures, c.want) || strings.Contains(failures, "the assertion holds") {
				t.Errorf("the failures lack %q:\n%s", c.want, failures)
			}
			if len(w.logs) != 1 || !strings.Contains(w.logs[0], c.story) {
				t.Errorf("told %d stories, and wanted one with %q:\n%s", len(w.logs), c.story, strings.Join(w.logs, "\n"))
			}
		})
	}
}

func TestATaskToWhichNothingHappensAnyMoreFailsAndTellsItsStory(t *testing.T) {
	t.Parallel()
	w := watched(t, func(t kit.T) {
		s := kit.Start(t)
		s.Run(s.Create(client.CreateInput{Intent: "wait for nobody"}))
	})
	if len(w.failures) != 1 || !strings.Contains(w.failures[0], "nothing more will happen to it") {
		t.Errorf("failures: %q", w.failures)
	}
	if len(w.logs) != 1 || !strings.Contains(w.logs[0], "nobody ever took it") {
		t.Errorf("logs: %q", w.logs)
	}
}

func TestNothingHoldsOfTheReceiversOfATaskThatNobodyTook(t *testing.T) {
	t.Parallel()
	for name, holds := range map[string]func(*kit.Chain) bool{
		"Survived": func(c *kit.Chain) bool { return c.Survived() }, "TokensAtMost": func(c *kit.Chain) bool { return c.TokensAtMost(250) }, "OneTrace": (*kit.Chain).OneTrace,
	} {
		w := watched(t, func(t kit.T) {
			s := kit.Start(t)
			s.Agent("desk", kit.Ignore())
			if holds(s.Run(s.Create(order("desk")))) {
				t.Errorf("it holds")
			}
		})
		if len(w.failures) != 1 || !strings.Contains(w.failures[0], "nobody ever took task") || len(w.logs) != 1 {
			t.Errorf("%s: failures %q, logs %q", name, w.failures, w.logs)
		}
	}
}

func TestAnAgentThatStallsLosesTheTask(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	s.Agent("sleeper", kit.Accept(kit.Stall(2*time.Hour), kit.Complete("late"))).With(client.AgentSpec{Fallbacks: []string{"second"}, ContextWindow: 8000})
	s.Agent("second", kit.Accept(kit.Complete("in time")))
	chain := s.Run(s.Create(client.CreateInput{Intent: "be in time", Send: to("sleeper")}))
	chain.Completed()
	chain.Owners("sleeper", "second")
	if r := chain.Task.Result; r == nil || r.Text != "in time" {
		t.Errorf("result: %+v", r)
	}
}

func TestADelegationComesBackAndThePolicyOfTheTestIsInForce(t *testing.T) {
	t.Parallel()
	s := kit.StartWith(t, kit.Options{Policy: "version: 1\nrules:\n  - name: money\n    when: {tags: [money]}\n    then: {to: {agent: lead}}\n"})
	s.Agent("helper", kit.Accept(kit.Complete("42")))
	s.Agent("lead", kit.Accept(kit.Delegate("helper", client.Content{Ask: "count the loaves"}), kit.Complete("42 loaves")))
	chain := s.Run(s.Create(client.CreateInput{Intent: "Count the loaves", Tags: []string{"money"}, Send: to(client.Auto)}))
	chain.Completed()
	chain.NoRefusals()
	chain.Owners("lead")
	if len(chain.Task.Children) != 1 || chain.Task.Children[0].Result == nil || chain.Task.Children[0].Result.Text != "42" {
		t.Errorf("children: %+v", chain.Task.Children)
	}
}

func TestAnAgentOutsideOfTheTestTakesPart(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	outside, err := client.New(s.URL(), s.Token("outside"), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		items, err := outside.WaitInbox(t.Context(), client.InboxOptions{})
		if err == nil {
			_, err = outside.Accept(t.Context(), items[0].ID, client.AcceptInput{})
		}
		if err == nil {
			_, err = outside.Send(t.Context(), items[0].Task, client.SendInput{Epoch: 2, To: []string{"last"}})
		}
		done <- err
	}()
	s.Agent("first", kit.Accept(kit.HandOn("outside")))
	s.Agent("last", kit.Accept(kit.Complete("done")))
	chain := s.Wait(s.Create(client.CreateInput{Intent: "work together", Send: to("first")}))
	if err := <-done; err != nil {
		t.Error(err)
	}
	chain.Completed()
	chain.Owners("first", "outside", "last")
}
