package moves

import (
	"context"
	"errors"
	"io"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// parts reads a file that was stored as artifacts of the workspace default, one after the other.
type parts struct {
	ctx   context.Context //nolint:containedctx // of the call that reads
	files artifact.Store
	left  []artifact.Digest
	open  io.ReadCloser // nil: the next one has to be opened
}

// Read implements [io.Reader].
func (p *parts) Read(b []byte) (int, error) {
	for {
		if p.open == nil {
			if len(p.left) == 0 {
				return 0, io.EOF
			}
			r, _, err := p.files.Get(p.ctx, artifact.Key{Workspace: identity.DefaultWorkspace, Digest: p.left[0]})
			if err != nil {
				return 0, err
			}
			p.open, p.left = r, p.left[1:]
		}
		n, err := p.open.Read(b)
		if errors.Is(err, io.EOF) {
			p.close()
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (p *parts) close() {
	if p.open != nil {
		_ = p.open.Close() // read only
		p.open = nil
	}
}
