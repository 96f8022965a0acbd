//go:build slow || outside

package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/server"
)

// supportPolicy is the rules and chains of the support desk.
const supportPolicy = `version: 1
rules:
  - name: lawyers
    when: {keywords: [lawyer]}
    then: {to: {human: complaints}}
  - name: money
    when: {keywords: [refund, invoice]}
    then: {to: {capability: billing}, reason: specialization}
  - name: deep
    when: {tags: [research]}
    then: {to: {capability: research}, reason: specialization}
  - name: worn-out
    when: {steps_above: 6}
    then: {to: {chain: tiers}, reason: escalation}
  - name: urgent
    when: {cel: 'task.priority == "urgent" && task.hops == 0'}
    then: {to: {capability: specialist}, reason: specialization, supervised_by: lead}
  - name: the-rest
    then: {to: {capability: support}}
chains:
  tiers: [{capability: specialist}, {human: complaints}]
escalation:
  default: tiers
`

// supportDesk is a tiered support desk: agents over HTTP, people at the command line.
type supportDesk struct {
	*testing.T
	server *server.Server
	dir    string
	admin  *api.Client
	agents map[string]*api.Client
	lost   sync.Map // tasks whose owner is gone
	dealt  atomic.Int64
}

// supportStaff are the agents and their capabilities. Only the lead approves.
var supportStaff = map[string][]string{
	"router": {"routing"}, "lead": {"leading"},
	"support-1": {"support"}, "support-2": {"support"}, "support-3": {"support"}, "support-4": {"support"},
	"billing-1": {"billing"}, "billing-2": {"billing"}, "billing-3": {"billing"},
	"research-1": {"research"}, "research-2": {"research"},
	"specialist-1": {"specialist"}, "specialist-2": {"specialist"},
}

// supportPeople serve the desks.
var supportPeople = map[string]string{"complaints": "hanna", "operators": "olaf"}

// supportTimes are short, so that tasks that people and agents ignore go on during the story.
var supportTimes = api.Timeouts{
	Offer: api.Duration(2 * time.Second), Ack: api.Duration(5 * time.Second), Approval: api.Duration(3 * time.Second),
	Answer: api.Duration(3 * time.Second), Lease: api.Duration(2 * time.Second), Wait: api.Duration(10 * time.Second),
}

func openSupportDesk(t *testing.T) *supportDesk {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(supportPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server.Open(context.Background(), server.Config{DataDir: dir, Record: recordOf(t, dir), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	release, err := daemon.Hold(t.Context(), dir, s.URL(), "") // as trapeze serve does: commands find the server there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	d := &supportDesk{T: t, server: s, dir: dir, agents: map[string]*api.Client{}}
	text, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	d.admin = d.connect(strings.TrimSpace(string(text)))
	for name, can := range supportStaff {
		d.hire(name, api.AgentSpec{Capabilities: can, MaxTasks: 6, Breaker: api.Breaker{OpenFor: api.Duration(2 * time.Second)}})
	}
	for desk, person := range supportPeople {
		d.hire(person, api.AgentSpec{Kind: "human", Capabilities: []string{desk}})
	}
	return d
}

func (d *supportDesk) connect(token string) *api.Client {
	c, err := api.New(d.server.URL(), token, api.Options{})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(c.Close)
	return c
}

func (d *supportDesk) hire(name string, spec api.AgentSpec) {
	if _, err := d.admin.RegisterAgent(d.Context(), name, spec); err != nil {
		d.Fatal(err)
	}
	t, err := d.admin.CreateToken(d.Context(), api.TokenInput{Role: "agent", Name: name})
	if err != nil {
		d.Fatal(err)
	}
	d.agents[name] = d.connect(t.Text)
}

// trapeze runs a command of the command line, and reads its JSON. A refusal is an error.
func (d *supportDesk) trapeze(out any, args ...string) error {
	var stdout, stderr bytes.Buffer
	env := map[string]string{"TRAPEZE_URL": d.server.URL()}
	code := cli.Main(d.Context(), append(args, "--json", "--data-dir", d.dir), cli.Env{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(k string) string { return env[k] },
	})
	if code != 0 {
		return exited{code, "trapeze " + strings.Join(args, " ") + ": " + stderr.String()}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(stdout.Bytes(), out)
}

// exited is the error of a command that failed.
type exited struct {
	code int
	said string
}

func (e exited) Error() string { return fmt.Sprintf("%s (exit %d)", e.said, e.code) }

// passing reports whether an error is to be expected: another agent was faster, or the task went elsewhere.
func passing(err error) bool {
	var told exited
	if errors.As(err, &told) {
		return told.code >= 3 && told.code <= 6 // not there, not now, not yours, nobody free
	}
	var refused *api.Error
	if !errors.As(err, &refused) {
		return errors.Is(err, context.Canceled)
	}
	return slices.Contains([]api.Code{
		api.Conflict, api.Expired, api.StaleEpoch, api.NotOwner, api.NotFound, api.Unavailable, api.CircuitOpen, api.Limit, api.Invalid, api.NotPermitted,
	}, refused.Code)
}

func (d *supportDesk) try(who, what string, err error) bool {
	if err != nil && !passing(err) {
		d.Errorf("%s: %s: %v", who, what, err)
	}
	return err == nil
}

// works lets an agent handle its inbox, one item at a time.
func (d *supportDesk) works(ctx context.Context, name string, dice *rand.Rand) {
	c := d.agents[name]
	for ctx.Err() == nil {
		items, err := c.WaitInbox(ctx, api.InboxOptions{Limit: 1, Wait: 2 * time.Second})
		if err != nil {
			d.try(name, "inbox", err)
			continue
		}
		for _, item := range items {
			d.meets(ctx, name, c, item, dice)
		}
	}
}

func (d *supportDesk) meets(ctx context.Context, name string, c *api.Client, item api.Item, dice *rand.Rand) {
	roll := dice.IntN(100)
	switch item.Type {
	case "approval":
		if roll < 30 {
			_, err := c.Deny(ctx, item.ID, api.DenyInput{Detail: "not like this"})
			d.try(name, "deny", err)
			return
		}
		_, err := c.Approve(ctx, item.ID, api.ApproveInput{Digest: item.Envelope})
		d.try(name, "approve", err)
	case "offer":
		switch {
		case roll < 8:
			_, err := c.Reject(ctx, item.ID, api.RejectInput{Offer: item.Offer, Reason: api.NotCapable})
			d.try(name, "reject", err)
		case roll < 12:
			_, err := c.Reject(ctx, item.ID, api.RejectInput{Offer: item.Offer, Reason: api.Overloaded})
			d.try(name, "reject", err)
		case roll < 16: // seen, and never answered
			<-time.After(600 * time.Millisecond)
		default:
			got, err := c.Accept(ctx, item.ID, api.AcceptInput{Offer: item.Offer, Render: true})
			if d.try(name, "accept", err) {
				d.deals(ctx, name, c, got.Receipt, dice.IntN(100))
			}
		}
	}
}

// deals is what an agent does with a task that it holds.
func (d *supportDesk) deals(ctx context.Context, name string, c *api.Client, r api.Receipt, roll int) {
	done := func(what string, err error) {
		if !d.try(name, what, err) { // it may hold the task still: then it does what it can
			_, err := c.Complete(ctx, r.Task, api.CompleteInput{Epoch: r.Epoch, Result: api.Result{Text: "done by " + name + " after all"}})
			d.try(name, "complete", err)
		}
	}
	_, err := c.Progress(ctx, r.Task, api.ProgressInput{Epoch: r.Epoch, Note: name + " looked at it"})
	if !d.try(name, "progress", err) {
		return
	}
	if name != "router" && d.dealt.Add(1) == 1 {
		roll = 99 // at least one owner is gone
	}
	switch {
	case name == "router": // knows nothing but the rules
		_, err := c.Send(ctx, r.Task, api.SendInput{Epoch: r.Epoch, To: []string{"auto"}})
		done("send to auto", err)
	case roll < 50:
		_, err := c.Complete(ctx, r.Task, api.CompleteInput{Epoch: r.Epoch, Result: api.Result{Text: "done by " + name}})
		d.try(name, "complete", err)
	case roll < 64:
		_, err := c.Escalate(ctx, r.Task, api.EscalateInput{Epoch: r.Epoch, Detail: "beyond " + name})
		done("escalate", err)
	case roll < 74:
		_, err := c.Send(ctx, r.Task, api.SendInput{Epoch: r.Epoch, To: []string{"auto"}})
		if err == nil {
			err = d.stays(ctx, name, c, r)
		}
		done("send to auto", err)
	case roll < 82: // back and forth
		_, err := c.Send(ctx, r.Task, api.SendInput{Epoch: r.Epoch, To: []string{"router"}, Reason: api.ReasonCapabilityMismatch, ReturnHome: true})
		done("send back", err)
	case roll < 90:
		done("ask", d.trapeze(nil, "ask", r.Task, "How far may I go?", "--option", "all the way", "--option", "no further", "--agent", name))
	case roll < 94:
		_, err := c.Fail(ctx, r.Task, api.FailInput{Epoch: r.Epoch, Detail: name + " cannot do it"})
		d.try(name, "fail", err)
	default: // gone: the lease ends, and somebody else gets it
		d.lost.Store(r.Task, r.Epoch)
	}
}

// stays completes a task that the policy left where it is.
func (d *supportDesk) stays(ctx context.Context, name string, c *api.Client, r api.Receipt) error {
	t, err := c.Task(ctx, r.Task)
	if err != nil || t.Owner != name || t.State != api.Executing || t.Epoch != r.Epoch {
		return err
	}
	_, err = c.Complete(ctx, r.Task, api.CompleteInput{Epoch: r.Epoch, Result: api.Result{Text: "done by " + name + ", who was to keep it"}})
	return err
}

// supportTicket is the part of a ticket that people look at.
type supportTicket struct {
	ID       string `json:"id"`
	Task     string `json:"task"`
	Kind     string `json:"kind"`
	Desk     string `json:"desk"`
	State    string `json:"state"`
	Question string `json:"question"`
}

func (d *supportDesk) tickets() []supportTicket {
	var page struct {
		Tickets []supportTicket `json:"tickets"`
	}
	if err := d.trapeze(&page, "ticket", "list"); err != nil {
		d.Error(err)
	}
	return page.Tickets
}

// sees lets people handle open tickets: most are answered, some are ignored.
func (d *supportDesk) sees(ctx context.Context, dice *rand.Rand) {
	left := map[string]bool{}
	for ctx.Err() == nil {
		for _, k := range d.tickets() {
			if k.State != "open" || left[k.ID] {
				continue
			}
			if dice.IntN(100) < 15 {
				left[k.ID] = true
				continue
			}
			switch k.Kind {
			case "question":
				d.person(d.trapeze(nil, "ticket", "answer", k.ID, "no further"))
			case "approval":
				d.person(d.trapeze(nil, "ticket", "approve", k.ID))
			case "takeover":
				who := supportPeople[k.Desk]
				if d.person(d.trapeze(nil, "ticket", "claim", k.ID, "--agent", who)) {
					d.person(d.trapeze(nil, "task", "complete", k.Task, "--result", "settled by "+who, "--agent", who))
				}
			}
		}
		select {
		case <-time.After(200 * time.Millisecond): // between two looks
		case <-ctx.Done():
		}
	}
}

// person reports whether a command worked. That it was too late is to be expected.
func (d *supportDesk) person(err error) bool {
	if err != nil && d.Context().Err() == nil {
		d.Log(err)
	}
	return err == nil
}

// resumes finishes what an agent holds after an answer, or after an offer came back: it is told by looking at its tasks.
func (d *supportDesk) resumes(ctx context.Context, name string) {
	c := d.agents[name]
	page, err := c.Tasks(ctx, api.TaskFilter{Owner: name, State: api.Executing, Limit: 100})
	if !d.try(name, "list", err) {
		return
	}
	for _, t := range page.Tasks {
		if epoch, is := d.lost.Load(t.ID); time.Since(t.Updated) < time.Second || is && epoch == t.Epoch {
			continue
		}
		_, err := c.Complete(ctx, t.ID, api.CompleteInput{Epoch: t.Epoch, Result: api.Result{Text: "done by " + name + " in the end"}})
		d.try(name, "complete", err)
	}
}

// arrive creates the tasks, of mixed kinds.
func (d *supportDesk) arrive(n int) []string {
	intents := []string{
		"The app crashes when I log in", "I want a refund for May", "The invoice is wrong", "My lawyer will hear of this",
		"Where does the delay in the export come from?", "How do I change my password?", "It is urgent: nothing works",
	}
	var tasks []string
	for i := range n {
		in := api.CreateInput{Intent: fmt.Sprintf("%s (%d)", intents[i%len(intents)], i), Timeouts: supportTimes, Send: &api.SendInput{To: []string{"auto"}}}
		switch i % len(intents) {
		case 4:
			in.Tags = []string{"research"}
		case 6:
			in.Priority = api.Urgent
		}
		switch i % 10 {
		case 7:
			in.Send = &api.SendInput{Capability: "support", Kind: api.Broadcast}
		case 8:
			in.Send = &api.SendInput{To: []string{"router"}, Kind: api.Cold}
		case 9:
			in.Send = &api.SendInput{Capability: "research", Kind: api.Broadcast, FanOut: true, FanIn: api.FanIn{Mode: api.FanInFirst}}
		}
		r, err := d.admin.CreateTask(d.Context(), in)
		if err != nil {
			d.Fatalf("task %d: %v", i, err)
		}
		tasks = append(tasks, r.Task)
	}
	return tasks
}

func TestASupportDeskLosesNothing(t *testing.T) {
	t.Parallel() // it mostly waits
	d := openSupportDesk(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var staff sync.WaitGroup
	seed := randomSeed(t)
	for i, name := range slices.Sorted(func(yield func(string) bool) {
		for n := range supportStaff {
			if !yield(n) {
				return
			}
		}
	}) {
		staff.Go(func() { d.works(ctx, name, rand.New(rand.NewPCG(seed, uint64(i)))) })
		staff.Go(func() {
			for ctx.Err() == nil {
				d.resumes(ctx, name)
				select {
				case <-time.After(time.Second): // between two looks
				case <-ctx.Done():
				}
			}
		})
	}
	staff.Go(func() { d.sees(ctx, rand.New(rand.NewPCG(seed, 99))) })
	staff.Go(func() { // some drop out and come back
		for _, name := range []string{"billing-1", "support-2", "research-1", "specialist-1"} {
			d.person(d.trapeze(nil, "agent", "drain", name))
			<-time.After(time.Second)
			d.person(d.trapeze(nil, "agent", "ready", name))
		}
	})
	tasks := d.arrive(supportTasks)
	d.settles(tasks)
	stop()
	staff.Wait()
	d.judges(tasks)
}
