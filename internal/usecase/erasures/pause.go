package erasures

import (
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// pauses is how many times as long as it took a workspace waits after an erasure.
const pauses = 19

// rested refuses (overloaded) an erasure too soon after the last of its workspace: each reads the whole record, and lists of all workspaces
// may be incomplete meanwhile, so that those of one workspace have a twentieth of the time. The workspace default, whose admins own the server, has no pause.
// The caller holds the lock of one.
func (es *Erasures) rested(workspace string) error {
	wait := es.rests[workspace].Sub(es.p.Now())
	if workspace == identity.DefaultWorkspace || wait <= 0 {
		return nil
	}
	wait = wait.Truncate(time.Second) + time.Second
	return refusal.New(refusal.Overloaded, "try again in "+wait.String()+", and give what is erased together one tag",
		"an erasure works on the whole server, and the workspace %s has just had one", workspace)
}

// rest begins the pause of a workspace after an erasure that began then, by no clock of tests. The caller holds the lock of one.
func (es *Erasures) rest(workspace string, began time.Time) {
	now := es.p.Now()
	for name, until := range es.rests {
		if !until.After(now) {
			delete(es.rests, name)
		}
	}
	es.rests[workspace] = now.Add(pauses * time.Since(began))
}
