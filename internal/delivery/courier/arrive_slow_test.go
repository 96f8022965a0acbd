//go:build slow

package courier_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/workspacestore"
)

// lack has the next reads find nothing, as those of a replica that lacks what others have.
func (l *log) lack(reads int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lacks = reads
}

func (l *log) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	l.mu.Lock()
	lacks := l.lacks > 0
	l.lacks--
	l.mu.Unlock()
	if lacks {
		return nil, ctx.Err()
	}
	return l.Double.Read(ctx, after, limit)
}

// TestWhatFollowsFromAWorkspaceThatArrivedIsDone although the replica that is read does not have all of its entries when the last of the move is there.
func TestWhatFollowsFromAWorkspaceThatArrivedIsDone(t *testing.T) {
	bubble(t, func(p *post) {
		child := p.abandon("ann") // as the source left it
		last, err := p.log.Last(p.Context())
		if err == nil {
			err = p.views.Store().SaveCursor(p.Context(), "courier", last) // nothing follows from it before it has arrived
		}
		if err != nil {
			p.Fatal(err)
		}
		data, err := json.Marshal(workspace.Arrived{First: 1, Last: uint64(last), At: time.Now().UTC()})
		if err != nil {
			p.Fatal(err)
		}
		p.log.lack(5)
		e := ledger.Entry{
			Stream: workspacestore.StreamOf(identity.DefaultWorkspace), Version: 1, Time: time.Now().UTC(), Actor: ledger.Actor{Principal: "admin/ann"},
			Events: []ledger.Event{{Name: workspace.Arrived{}.EventName(), Version: 1, Data: data}},
		}
		if _, err := p.log.Append(p.Context(), e, 0); err != nil {
			p.Fatal(err)
		}
		defer p.run()()
		time.Sleep(time.Minute)
		if !p.there(child) {
			p.Error("the child that the source did not make is not made here")
		}
	})
}
