package epoch

import (
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxTasks is the maximum number of tasks of which a session remembers the epoch; the oldest is forgotten first.
const maxTasks = 1000

// Epochs are the epochs that the sessions of a principal were given. It is safe for concurrent use.
type Epochs struct {
	mu sync.Mutex
	of map[weak.Pointer[mcp.ServerSession]]*session
}

// session is the epochs of one session.
type session struct {
	epochs map[string]uint64
	order  []string
}

// New returns the memory of the sessions of one principal.
func New() *Epochs { return &Epochs{of: map[weak.Pointer[mcp.ServerSession]]*session{}} }

// Of is the epoch of a task that a session was given; 0 if none.
func (e *Epochs) Of(s *mcp.ServerSession, task string) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.of[weak.Make(s)]; x != nil {
		return x.epochs[task]
	}
	return 0
}

// Hold gives a session an epoch of a task, until the session ends. No epoch (0) changes nothing.
func (e *Epochs) Hold(s *mcp.ServerSession, task string, epoch uint64) {
	if s == nil || epoch == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := weak.Make(s)
	x := e.of[key]
	if x == nil {
		x = &session{epochs: map[string]uint64{}}
		e.of[key] = x
		runtime.AddCleanup(s, e.forget, key)
	}
	if x.epochs[task] == 0 {
		x.order = append(x.order, task)
	}
	x.epochs[task] = epoch
	if len(x.order) > maxTasks {
		delete(x.epochs, x.order[0])
		x.order = x.order[1:]
	}
}

// Drop forgets the epoch of a task that a session was given.
func (e *Epochs) Drop(s *mcp.ServerSession, task string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x := e.of[weak.Make(s)]; x != nil && x.epochs[task] != 0 {
		delete(x.epochs, task)
		x.order = slices.DeleteFunc(x.order, func(id string) bool { return id == task })
	}
}

func (e *Epochs) forget(key weak.Pointer[mcp.ServerSession]) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.of, key)
}
