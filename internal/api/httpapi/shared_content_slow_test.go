//go:build slow

package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// contentOf is content with a word of its own in each field.
func contentOf(whose string) client.Content {
	return client.Content{
		Ask: whose + "-ask", State: whose + "-state", Summary: whose + "-summary", Questions: []string{whose + "-question"},
		Data: fmt.Appendf(nil, `{"of":"%s-data"}`, whose), Facts: []client.Point{{Text: whose + "-fact"}},
	}
}

// has fails if a prompt lacks words of one content, unless that is empty, or has words of the other.
func has(t *testing.T, whose, prompt, other string, words ...string) {
	t.Helper()
	for _, w := range words {
		if whose != "" && !strings.Contains(prompt, whose+"-"+w) {
			t.Errorf("%s-%s is missing in\n%s", whose, w, prompt)
		}
		if strings.Contains(prompt, other+"-"+w) {
			t.Errorf("%s-%s is in\n%s", other, w, prompt)
		}
	}
}

// What is said with a share is for its reader: the owner's own words stay those of the task, for the owner and for the next one.
func TestWhatAShareSaysReachesItsReaderAndIsNotTheTasksOwn(t *testing.T) {
	for _, from := range []string{"created", "nothing", "delegated"} {
		t.Run(from, func(t *testing.T) {
			h := open(t, httpapi.Options{})
			ctx := t.Context()
			ann, _ := h.agent("ann")
			ben, _ := h.agent("ben")
			cleo, _ := h.agent("cleo")
			in := client.CreateInput{Intent: "x", Start: true}
			if from == "created" {
				in.Content = contentOf("own")
			}
			made, err := ann.CreateTask(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			if from == "delegated" {
				if _, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, Kind: client.Delegation, To: []string{"cleo"}, Content: contentOf("part")}); err != nil {
					t.Fatal(err)
				}
			}
			var share client.Receipt
			for range 2 { // also after another share
				if share, err = ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch, Content: contentOf("shared")}); err != nil {
					t.Fatal(err)
				}
			}
			all := []string{"state", "summary", "question", "data"}
			has(t, "shared", prompt(t, ben, share.Share), "own", all...)
			own := "own"
			if from != "created" {
				own = ""
			}
			if from != "delegated" {
				if from == "created" {
					has(t, own, prompt(t, ann, made.Task), "shared", append(all, "ask")...)
				}
				sent, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"cleo"}})
				if err != nil {
					t.Fatal(err)
				}
				got, err := cleo.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
				if err != nil {
					t.Fatal(err)
				}
				has(t, own, got.Content.Prompt, "shared", append(all, "ask")...)
				if !strings.Contains(got.Content.Prompt, "shared-fact") {
					t.Errorf("a fact that was learned stays:\n%s", got.Content.Prompt)
				}
				return
			}
			again, err := ann.Share(ctx, made.Task, client.ShareInput{To: "ben", Epoch: made.Epoch})
			if err != nil {
				t.Fatal(err)
			}
			has(t, own, prompt(t, ben, again.Share), "shared", all...)
			has(t, own, prompt(t, ben, again.Share), "part", all...)
		})
	}
}

// What is said with a delegation is for those that do the parts: the owner's own words stay those of the task.
func TestWhatADelegationSaysReachesItsReceiverAndIsNotTheTasksOwn(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	ann, _ := h.agent("ann")
	ben, _ := h.agent("ben")
	cleo, _ := h.agent("cleo")
	made, err := ann.CreateTask(ctx, client.CreateInput{Intent: "x", Start: true, Content: contentOf("own")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		parts, err := ann.Send(ctx, made.Task, client.SendInput{
			Epoch: made.Epoch, Kind: client.Broadcast, FanOut: true, FanIn: client.FanIn{Mode: client.FanInNone}, To: []string{"ben"}, Content: contentOf("part"),
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ben.Accept(ctx, parts.Children[0]+".h1", client.AcceptInput{Render: true})
		if err != nil {
			t.Fatal(err)
		}
		has(t, "part", got.Content.Prompt, "own", "ask", "state", "summary", "question", "data")
	}
	has(t, "own", prompt(t, ann, made.Task), "part", "ask", "state", "summary", "question", "data")
	sent, err := ann.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"cleo"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := cleo.Accept(ctx, sent.Handoff, client.AcceptInput{Render: true})
	if err != nil {
		t.Fatal(err)
	}
	has(t, "own", got.Content.Prompt, "part", "state", "summary", "question", "data")
	for _, stays := range []string{"own-fact", "part-fact"} {
		if !strings.Contains(got.Content.Prompt, stays) {
			t.Errorf("%s was learned and is missing:\n%s", stays, got.Content.Prompt)
		}
	}
}

// Only those that get the task are steps of its chain: what was shared or delegated on the way is neither a hop nor the word of an owner.
func TestWhatIsSharedOrDelegatedIsNoStepOfTheChain(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	lead, _ := h.agent("lead")
	coder, _ := h.agent("coder")
	for _, name := range []string{"reader", "helper"} {
		h.agent(name)
	}
	of := func(id, text, supersedes string) client.Content {
		return client.Content{State: "state " + id, Facts: []client.Point{{ID: id, Text: text, Supersedes: supersedes}}}
	}
	must := func(r client.Receipt, err error) client.Receipt {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	sent := must(lead.CreateTask(ctx, client.CreateInput{Intent: "fix the login", Content: of("first", "the valve is open", "")}))
	sent = must(lead.Send(ctx, sent.Task, client.SendInput{To: []string{"coder"}}))
	got, err := coder.Accept(ctx, sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	must(coder.Share(ctx, sent.Task, client.ShareInput{Epoch: got.Epoch, To: "reader", Content: of("shared", "for the reader", "")}))
	parts := client.SendInput{Epoch: got.Epoch, Kind: client.Broadcast, FanOut: true, FanIn: client.FanIn{Mode: client.FanInNone}, To: []string{"helper"}, Content: of("part", "for the helper", "")}
	must(coder.Send(ctx, sent.Task, parts))
	next := of("second", "the valve is shut", "first")
	next.State = ""
	back := must(coder.Send(ctx, sent.Task, client.SendInput{Epoch: got.Epoch, To: []string{"lead"}, Content: next}))
	if _, err := lead.Accept(ctx, back.Handoff, client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}
	d, err := lead.Drift(ctx, sent.Task)
	if err != nil || len(d.Hops) != 2 || d.Hops[0].Handoff != sent.Task+".h1" || d.Hops[1].From != "coder" || len(d.Hops[1].ReplacedTexts) != 0 {
		t.Fatalf("%+v, %v", d.Hops, err)
	}
	changed, added := d.Hops[1].Facts.Changed, d.Hops[1].Facts.Added
	if len(changed) != 1 || changed[0].By != "coder" || changed[0].Was != "first" || !slices.Equal(added, []string{"shared", "part"}) {
		t.Errorf("%+v", d.Hops[1].Facts)
	}
}

// A handoff that nobody took lost nothing: the owner still has all of it. What its sender added reaches the next owner.
func TestAHandoffThatNobodyTookIsNoStepOfTheChain(t *testing.T) {
	h := open(t, httpapi.Options{})
	ctx := t.Context()
	lead, _ := h.agent("lead")
	coder, _ := h.agent("coder")
	tester, _ := h.agent("tester")
	fact := func(id string) client.Content {
		return client.Content{State: "state " + id, Facts: []client.Point{{ID: id, Text: "text of " + id}}}
	}
	task := ""
	drift := func(hops, introduced int) client.Drift {
		t.Helper()
		d, err := lead.Drift(ctx, task)
		if err != nil || len(d.Hops) != hops || d.Retention.Facts != (client.Kept{Introduced: introduced, Surviving: introduced, Verbatim: introduced, Rate: 1}) {
			t.Fatalf("hops %+v, facts %+v, %v", d.Hops, d.Retention.Facts, err)
		}
		return d
	}
	must := func(r client.Receipt, err error) client.Receipt {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	made := must(lead.CreateTask(ctx, client.CreateInput{Intent: "fix the login", Start: true, Content: fact("first")}))
	task = made.Task
	for _, kind := range []client.Kind{client.Cold, client.Warm} {
		sent := must(lead.Send(ctx, made.Task, client.SendInput{Epoch: 1, To: []string{"coder"}, Kind: kind, ReturnHome: true, Content: fact(string(kind))}))
		drift(0, 1)
		must(coder.Reject(ctx, sent.Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
		drift(0, 1)
	}
	sent := must(lead.Send(ctx, made.Task, client.SendInput{Epoch: 1, To: []string{"tester"}, Content: client.Content{Facts: []client.Point{{ID: "last", Text: "text of last"}}}}))
	if _, err := tester.Accept(ctx, sent.Handoff, client.AcceptInput{}); err != nil {
		t.Fatal(err)
	}
	hop := drift(1, 3).Hops[0]
	if hop.Handoff != sent.Handoff || !slices.Equal(hop.Facts.Kept, []string{"first"}) || !slices.Equal(hop.Facts.Added, []string{"warm", "last"}) {
		t.Errorf("%+v", hop)
	}
}
