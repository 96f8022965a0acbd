package routes

import (
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
	"github.com/trapezehq/trapeze/internal/usecase/random"
)

// Routes proposes receivers for handoffs, from what is known of the agents. Its methods are safe for many goroutines.
type Routes struct {
	agents   *agents.Store
	channels *channels.Store
	ledger   ledger.Ledger
	views    view.Store
	random   *random.Source
	waiting  *quota.Waiting
	now      func() time.Time
	loads    sync.Map // *view.AgentLoads by workspace: of the last decision that looked at every agent
}

// New returns the routes between the agents of a ledger. Without a quota, any number of offers may wait.
func New(l ledger.Ledger, v view.Store, a *agents.Store, c *channels.Store, r *random.Source, q *quota.Waiting, now func() time.Time) *Routes {
	return &Routes{agents: a, channels: c, ledger: l, views: v, random: r, waiting: q, now: now}
}

// Jitter is a random number from 0 up to 1, to spread retries.
func (r *Routes) Jitter() float64 { return r.random.Jitter() }
