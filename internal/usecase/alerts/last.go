package alerts

import (
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// last is the conditions that held when this server judged last, by workspace. They are not recorded: an entry for each change of a
// value would be too many. It is safe for concurrent use.
type last struct {
	mu   sync.Mutex
	held map[string]map[alert.Key]alert.Condition
}

func (l *last) set(workspace string, conditions []alert.Condition) {
	held := map[alert.Key]alert.Condition{}
	for i := range conditions {
		if c := &conditions[i]; c.Holds {
			held[c.Key] = *c
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]map[alert.Key]alert.Condition{}
	}
	l.held[workspace] = held
}

func (l *last) of(workspace string, k alert.Key) (c alert.Condition, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok = l.held[workspace][k]
	return c, ok
}
