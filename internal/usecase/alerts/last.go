package alerts

import (
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// last is the values of the conditions that held when this server judged last, by workspace. It is not recorded: an entry for each change of a
// value would be too many. It is safe for concurrent use.
type last struct {
	mu     sync.Mutex
	values map[string]map[alert.Key]float64
}

func (l *last) set(workspace string, conditions []alert.Condition) {
	values := map[alert.Key]float64{}
	for i := range conditions {
		if c := &conditions[i]; c.Holds {
			values[c.Key] = c.Value
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.values == nil {
		l.values = map[string]map[alert.Key]float64{}
	}
	l.values[workspace] = values
}

func (l *last) of(workspace string, k alert.Key) (value float64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	value, ok = l.values[workspace][k]
	return value, ok
}
