package trapezetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	kit "github.com/trapezehq/trapeze/trapezetest"
)

// printer stands for the *testing.T of a test.
type printer struct{ cleanup []func() }

func (p *printer) Helper()                           {}
func (p *printer) Cleanup(fn func())                 { p.cleanup = append(p.cleanup, fn) }
func (p *printer) Errorf(format string, args ...any) { fmt.Printf("FAILED: "+format+"\n", args...) }
func (p *printer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *printer) Logf(format string, args ...any)   { fmt.Printf(format+"\n", args...) }

func (p *printer) end() {
	for _, fn := range p.cleanup {
		fn()
	}
}

// Three agents pass a task on, and everything arrives.
func Example() {
	t := &printer{} // in a test: its *testing.T
	defer t.end()

	s := kit.Start(t)
	s.Agent("researcher", kit.Accept(kit.Fact("cause", "the cookie expires too early"), kit.HandOn("coder")))
	s.Agent("coder", kit.Accept(kit.Decision("fix", "use UTC for the expiry"), kit.HandOn("reviewer")))
	s.Agent("reviewer", kit.Accept(kit.Complete("The login of order 7 failed since the cookie expired too early; fixed")))

	chain := s.Run(s.Create(client.CreateInput{
		Intent:      "Find out why the login of order 7 fails",
		Constraints: []client.Constraint{{ID: "prod", Kind: client.ConstraintProhibition, Text: "do not touch production"}},
		Send:        &client.SendInput{To: []string{"researcher"}},
	}))

	chain.Completed()
	chain.Owners("researcher", "coder", "reviewer")
	chain.Survived()
	chain.TokensAtMost(2000)
	chain.NothingParked()
	chain.NoRefusals()
	chain.ReflectsIntent()
	fmt.Println(strings.Join(chain.Holders(), " → "), "in", s.Now().Sub(kit.Epoch))
	// Output: researcher → coder → reviewer in 0s
}

// One agent dies, its fallback is slow, and the reviewer takes the task the second time: two hours of the server's clock, and none of the
// test's.
func ExampleServer_Run() {
	t := &printer{}
	defer t.end()

	s := kit.Start(t)
	s.Agent("coder", kit.Accept(kit.Progress("found the file"), kit.Die())).With(client.AgentSpec{Fallbacks: []string{"second"}, ContextWindow: 8000})
	s.Agent("second", kit.Slow(10*time.Second, kit.Accept(kit.Work(90*time.Minute), kit.HandOn("reviewer")))).OnReturn(kit.HandOn("reviewer"))
	s.Agent("reviewer", kit.Reject(client.Overloaded), kit.Accept(kit.Complete("login fixed")))

	chain := s.Run(s.Create(client.CreateInput{Intent: "Fix the login", Send: &client.SendInput{To: []string{"coder"}}}))

	chain.Completed()
	chain.Owners("coder", "second", "reviewer")
	fmt.Println(s.Now().Sub(kit.Epoch).Round(time.Minute))
	// Output: 2h0m0s
}

// Code under test is called as a step, here an agent that does not read what it is given. The chain tells what was lost where.
func ExampleDo() {
	t := &printer{}
	defer t.end()

	translate := func(ctx context.Context, j *kit.Job) error {
		if !strings.Contains(j.Prompt, "Ship by Friday") {
			return errors.New("the prompt lacks the deadline")
		}
		_, err := j.Client.Send(ctx, j.Task, client.SendInput{Epoch: j.Epoch, To: []string{"editor"}, Content: client.Content{
			Facts: []client.Point{{ID: "deadline", Text: "Ship soon"}}, // it should have left the fact alone
		}})
		return err
	}
	s := kit.Start(t)
	s.Agent("writer", kit.Accept(kit.Fact("deadline", "Ship by Friday"), kit.HandOn("translator")))
	s.Agent("translator", kit.Accept(kit.Do("translate", translate)))
	s.Agent("editor", kit.Accept(kit.Complete("the translated release notes")))

	chain := s.Run(s.Create(client.CreateInput{Intent: "Translate the release notes", Send: &client.SendInput{To: []string{"writer"}}}))
	for _, h := range chain.Hops {
		for _, l := range h.Lost {
			fmt.Printf("hop %d, %s to %s: %s\n", h.Number, h.From, h.To, l)
		}
	}
	// Output: hop 3, translator to editor: fact deadline "Ship by Friday" was reworded: now "Ship soon"
}
