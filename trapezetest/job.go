package trapezetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// A Job is the work of a scripted agent on a task that it accepted. A step that calls code under test ([Do]) gets it.
type Job struct {
	Task    string
	Handoff string // that the task came with
	Epoch   uint64 // of the agent's ownership
	// Prompt and Envelope are what the agent was given; empty for a task that came back to it.
	Prompt   string
	Envelope json.RawMessage
	Client   *client.Client // of the agent
	// Content goes along with the next handoff. Steps such as [Fact] add to it.
	Content client.Content

	agent     *Agent
	steps     []Step
	at        time.Time // not before
	beat      time.Time // when the next sign of life is due while it works; zero: none
	delegated bool      // it waits for the results of children
}

// next is when the job goes on; false: it waits for something else.
func (j *Job) next() (at time.Time, ok bool) {
	if len(j.steps) == 0 || j.delegated {
		return at, false
	}
	if !j.beat.IsZero() && j.beat.Before(j.at) {
		return j.beat, true
	}
	return j.at, true
}

func (j *Job) ready() bool {
	at, ok := j.next()
	return ok && !at.After(j.agent.s.Now())
}

// step does the next step, or gives the sign of life that is due. A refusal ends the job.
func (j *Job) step(ctx context.Context) {
	var err error
	name := "heartbeat"
	if j.at.After(j.agent.s.Now()) {
		j.beat = j.agent.s.Now().Add(beatEvery)
		_, err = j.Client.Heartbeat(ctx, j.Task, j.Epoch)
	} else {
		s := j.steps[0]
		j.beat = time.Time{}
		name, j.steps = s.name, j.steps[1:]
		err = s.do(ctx, j)
	}
	if err != nil {
		j.agent.note(j.Task, name, err)
		j.steps = nil
	}
}

func (j *Job) accept(ctx context.Context, offer int) error {
	got, err := j.Client.Accept(ctx, j.Handoff, client.AcceptInput{Offer: offer, Render: true})
	if err != nil {
		return err
	}
	j.Epoch = got.Epoch
	if got.Content != nil {
		j.Prompt, j.Envelope = got.Content.Prompt, got.Content.Envelope
	}
	return nil
}
