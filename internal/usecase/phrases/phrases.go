package phrases

import (
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/history"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Phrases does what people and agents say is to be done. Its methods are safe for many goroutines.
type Phrases struct {
	tasks     *tasks.Tasks
	history   *history.History
	store     *taskstore.Store
	agents    *agents.Store
	policies  *policies.Store
	positions *positions.Positions
	views     view.Store
	access    *access.Log
	now       func() time.Time
	secret    []byte // under which confirmations are made
}

// Parts are what phrases are done by.
type Parts struct {
	Tasks     *tasks.Tasks
	History   *history.History
	Store     *taskstore.Store
	Agents    *agents.Store
	Policies  *policies.Store
	Positions *positions.Positions
	Views     view.Store
	Access    *access.Log
	Now       func() time.Time
}

// New returns what does phrases by the use cases of tasks.
func New(p Parts) *Phrases {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // it never fails
	return &Phrases{
		tasks: p.Tasks, history: p.History, store: p.Store, agents: p.Agents, policies: p.Policies, positions: p.Positions,
		views: p.Views, access: p.Access, now: p.Now, secret: secret,
	}
}
