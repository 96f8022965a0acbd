//go:build slow || outside

package scenario

import (
	"slices"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

// TestStepsAreSentAfterAKillThatNobodyHadReceived: the collector takes nothing, and the server is killed; the next one sends every step.
func TestStepsAreSentAfterAKillThatNobodyHadReceived(t *testing.T) {
	c := newOTLP(t)
	c.setDown(true)
	r := newRig(t, t.TempDir(), modeServe)
	url := r.start()
	work := func() (task string) {
		admin := r.client(url, r.token)
		for _, name := range []string{"coder"} {
			if _, err := admin.RegisterAgent(t.Context(), name, api.AgentSpec{}); err != nil {
				t.Fatal(err)
			}
		}
		token, err := admin.CreateToken(t.Context(), api.TokenInput{Role: api.RoleAgent, Name: "coder"})
		if err != nil {
			t.Fatal(err)
		}
		made, err := admin.CreateTask(api.WithTrace(t.Context(), clientParent, ""), api.CreateInput{Intent: secretIntent, Send: &api.SendInput{To: []string{"coder"}}})
		if err != nil {
			t.Fatal(err)
		}
		coder := r.client(url, token.Text)
		accepted, err := coder.Accept(t.Context(), made.Handoff, api.AcceptInput{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := coder.Complete(t.Context(), made.Task, api.CompleteInput{Epoch: accepted.Epoch, Result: api.Result{Text: "done"}}); err != nil {
			t.Fatal(err)
		}
		return made.Task
	}
	first := work()
	r.kill()
	c.setDown(false)
	url = r.start()
	second := work()
	all := c.await("task", 2)
	for _, task := range []string{first, second} {
		ids := map[string][]string{}
		for _, s := range all {
			if s.values["trapeze.task.id"] == task && s.values["trapeze.audit.last"] != "" && !slices.Contains(ids[s.name], s.id) {
				ids[s.name] = append(ids[s.name], s.id)
			}
		}
		for _, name := range []string{"task", "invoke_agent coder", "handoff", "handoff request", "handoff accept", "handoff confirm", "handoff complete"} {
			if len(ids[name]) != 1 {
				t.Errorf("%s: %d spans named %s", task, len(ids[name]), name)
			}
		}
	}
}

func TestNothingIsSentThatTheSamplerLeavesOut(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
	h := openTraced(t, t.TempDir())
	h.three(t, clientParent)
	out := h.three(t, "00-"+clientTrace+"-"+clientSpan+"-00")
	h.stop()
	sampled := 0
	for _, s := range h.all() {
		switch {
		case s.values["trapeze.task.id"] == out, s.trace != clientTrace:
			t.Errorf("%s was sent: %s", s.name, s.raw)
		default:
			sampled++
		}
	}
	if sampled == 0 {
		t.Error("nothing was sent of the trace that the client samples")
	}
}

func TestChildTasksAreInTheTraceOfTheirParent(t *testing.T) {
	h := openTraced(t, t.TempDir())
	coder, reviewer := h.as(t, "coder"), h.as(t, "reviewer")
	made, err := coder.CreateTask(api.WithTrace(t.Context(), clientParent, ""), api.CreateInput{Intent: secretIntent, Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coder.Send(t.Context(), made.Task, api.SendInput{Epoch: made.Epoch, To: []string{"reviewer"}, Kind: api.Delegation}); err != nil {
		t.Fatal(err)
	}
	box, err := reviewer.Inbox(t.Context(), api.InboxOptions{Wait: 50 * time.Second})
	if err != nil || len(box.Items) != 1 {
		t.Fatalf("%+v, %v", box, err)
	}
	got, err := reviewer.Accept(t.Context(), box.Items[0].ID, api.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reviewer.Complete(t.Context(), got.Task, api.CompleteInput{Epoch: got.Epoch, Result: api.Result{Text: "checked"}}); err != nil {
		t.Fatal(err)
	}
	all := h.await("delegation", 1)
	delegation, child := named(all, "delegation")[0], named(all, "task")
	if delegation.trace != clientTrace || delegation.values["trapeze.child.id"] != got.Task || delegation.values["trapeze.task.state"] != "completed" {
		t.Errorf("the delegation: %+v", delegation)
	}
	if len(child) != 1 || child[0].trace != clientTrace || child[0].parent != delegation.id || child[0].values["trapeze.task.parent_id"] != made.Task {
		t.Errorf("the child: %+v", child)
	}
	if handoffs := named(all, "handoff"); len(handoffs) != 1 || handoffs[0].parent != child[0].id || handoffs[0].trace != clientTrace {
		t.Errorf("its handoff: %+v", handoffs)
	}
}
