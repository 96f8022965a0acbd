package moves

import (
	"context"
	"errors"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/move"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// LeaveInput has a workspace move to another server.
type LeaveInput struct {
	Name string `json:"name,omitempty"`
	To   string `json:"to" doc:"Address of the other server, as clients are given it, such as https://b.example.org:8727. Every change is refused with it from now on, for good."`
}

// Leave ends changes in a workspace for good, with the address of the server to which it moves, and records what moves. It may be repeated. Errors: Conflict, if the
// content of the record can be erased, or entries are put away in segments that are not attached.
func (ms *Moves) Leave(ctx context.Context, c caller.Caller, in LeaveInput) (Move, error) {
	m, err := ms.leave(ctx, c, in)
	if err != nil {
		return m, ms.refused(ctx, c, "move-workspace", in.Name, err)
	}
	return m, nil
}

func (ms *Moves) leave(ctx context.Context, c caller.Caller, in LeaveInput) (Move, error) {
	if err := may(c); err != nil {
		return Move{}, err
	}
	if err := workspace.CheckName(in.Name); err != nil {
		return Move{}, err
	}
	f, err := ms.Store.Find(ctx, in.Name)
	if err != nil {
		return Move{}, err
	}
	if f.State.MovedTo == "" { // before anything is refused for good
		if _, _, err := ms.count(ctx, in.Name, 0); err != nil {
			return Move{}, err
		}
	}
	out, err := ms.do(ctx, c, in.Name, workspace.Leave{By: c.Principal, Name: in.Name, To: in.To})
	if err != nil {
		return Move{}, err
	}
	if out.State.Sent == nil {
		if out, err = ms.send(ctx, c, *out.State); err != nil {
			return Move{}, err
		}
	}
	m := moveOf(out.State.Sent, proof.LogOf(ms.Tree.Keys()))
	m.Position = out.At
	return m, nil
}

// send records what moves, once nothing of it changes any more.
func (ms *Moves) send(ctx context.Context, c caller.Caller, s workspace.State) (out stream.Outcome[workspace.State], err error) {
	if err := ms.Store.Settle(ctx); err != nil {
		return out, err
	}
	last, err := ms.Ledger.Last(ctx)
	if err != nil {
		return out, stream.Unavailable(err)
	}
	counted, files, err := ms.count(ctx, s.Name, last)
	if err != nil {
		return out, err
	}
	sent := workspace.Sent{
		Name: s.Name, To: s.MovedTo, Description: s.Description, Limits: s.Limits, By: s.By, Created: s.CreatedAt, Through: uint64(last), Base: s.Base + uint64(last),
	}
	counted.Count(&sent, files)
	return ms.do(ctx, c, s.Name, workspace.Send{By: c.Principal, Sent: sent})
}

// count counts what moves with a workspace, and lists the artifacts of it that are there; 0 means up to the end.
func (ms *Moves) count(ctx context.Context, name string, through ledger.Position) (*move.Selection, []string, error) {
	switch {
	case ms.Sealed:
		return nil, nil, sealed()
	case ms.Tree == nil:
		return nil, nil, refusal.New(refusal.Conflict, "ask the operator of the server", "this server proves nothing, and so no other one could tell what it sent")
	}
	if through == 0 {
		var err error
		if through, err = ms.Ledger.Last(ctx); err != nil {
			return nil, nil, stream.Unavailable(err)
		}
	}
	counted, err := move.Each(ctx, ms.Ledger, name, through, func(*ledger.Entry) error { return nil })
	if errors.Is(err, move.ErrSealed) {
		return nil, nil, sealed()
	}
	if err != nil {
		return nil, nil, stream.Unavailable(err)
	}
	var files []string
	for _, d := range counted.Files() {
		if ms.Files == nil {
			break
		}
		_, err := ms.Files.Touch(ctx, artifact.Key{Workspace: name, Digest: artifact.OfHex(d)})
		if refusal.CodeOf(err) == refusal.NotFound { // it was lost before
			continue
		}
		if err != nil {
			return nil, nil, stream.Unavailable(err)
		}
		files = append(files, d)
	}
	return counted, files, nil
}
