package natsstore

import (
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// usage is what the artifacts of each workspace take, as far as this front end has heard.
type usage struct {
	mu      sync.Mutex
	objects map[string]object // by key
	used    map[string]artifact.Quota
}

// follow takes what any front end changes. It closes ready when it has what was there before.
func (u *usage) follow(watch jetstream.KeyWatcher, ready chan<- struct{}) {
	defer func() {
		if ready != nil {
			close(ready)
		}
	}()
	for e := range watch.Updates() {
		if e == nil {
			if ready != nil {
				close(ready)
				ready = nil
			}
			continue
		}
		o := object{revision: e.Revision()}
		if e.Operation() == jetstream.KeyValuePut {
			o, _ = decode(e) // what cannot be read takes nothing
		}
		u.set(e.Key(), o)
	}
}

// set notes an artifact, or that there is none if it has no content, unless something newer is known.
func (u *usage) set(key string, o object) {
	u.mu.Lock()
	defer u.mu.Unlock()
	old := u.objects[key]
	if o.revision <= old.revision {
		return
	}
	workspace, _, _ := strings.Cut(key, "/")
	used := u.used[workspace]
	used.Bytes += o.Size - old.Size
	used.Count += count(o) - count(old)
	u.used[workspace] = used
	u.objects[key] = o
}

func count(o object) int {
	if o.Content == "" {
		return 0
	}
	return 1
}

func (u *usage) of(workspace string) artifact.Quota {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.used[workspace]
}

// drop notes that an artifact that was at a revision is no more.
func (u *usage) drop(key string, revision uint64) {
	u.mu.Lock()
	now := u.objects[key].revision
	u.mu.Unlock()
	if now == revision {
		u.set(key, object{revision: revision + 1}) // that of the deletion, or less
	}
}
