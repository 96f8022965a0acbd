package mcpapi_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
)

func TestANeighbourIsShownWithWhatIsKnownBesideItsOwnWord(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		agent client.Agent
		want  string
	}{
		{client.Agent{}, "not seen since the server started"},
		{client.Agent{Seen: now.Add(-59 * time.Second)}, ""},
		{client.Agent{Seen: now.Add(time.Second)}, ""}, // by a clock that is ahead
		{client.Agent{Seen: now.Add(-time.Minute)}, "last seen 1m ago"},
		{client.Agent{Seen: now.Add(-3*time.Hour - 5*time.Minute - time.Second)}, "last seen 3h5m ago"},
		{client.Agent{Seen: now, Held: 2}, "holds 2"},
		{client.Agent{Seen: now, Held: 2, Spec: client.AgentSpec{MaxTasks: 3}}, "holds 2 of 3"},
		{client.Agent{Seen: now, Circuit: client.Circuit{State: "half_open"}}, "circuit half open"},
		{
			client.Agent{Seen: now.Add(-2 * time.Minute), Held: 1, Circuit: client.Circuit{State: "open", ResetAt: now.Add(time.Minute)}},
			"last seen 2m ago, holds 1, circuit open until 2026-03-02T09:01:00Z",
		},
	} {
		if x.agent.Circuit.State == "" {
			x.agent.Circuit.State = "closed"
		}
		if got := show.OtherAgentOf(x.agent, now).Notes; got != x.want {
			t.Errorf("%+v: %q, want %q", x.agent, got, x.want)
		}
	}
}
