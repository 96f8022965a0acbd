package tokens

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Bootstrap makes the first admin token of a workspace and returns its text. The server calls it when it starts on
// an empty data directory, or when the file that held the token is gone.
func (ts *Tokens) Bootstrap(ctx context.Context, workspace string) (string, error) {
	t, err := ts.create(ctx, caller.System(workspace, "server"), TokenInput{Role: identity.Admin, Name: "local", Label: "made by serve for this machine"})
	return t.Text, err
}
