package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/secretenv"
)

// grace is the time after the end of a program for its children to close its output.
const grace = time.Second

// program runs a program for each notice, with the notice on its standard input.
type program struct{ path string }

// Name implements [Sink].
func (p program) Name() string { return "exec:" + filepath.Base(p.path) + "#" + Mark(p.path) }

// Send implements [Sink]. A program that exits with a code other than 0 is tried again.
func (p program) Send(ctx context.Context, m Message) error {
	in, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path)
	ownGroup(cmd)
	cmd.Env = secretenv.Without(os.Environ())
	tail := &last{most: 500}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(append(in, '\n')), tail, tail, grace
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", p.Name(), err, refusal.Clip(tail.String(), tail.most))
	}
	return nil
}

// last keeps the end of its input.
type last struct {
	most int
	b    []byte
}

func (l *last) Write(b []byte) (int, error) {
	n := len(b)
	l.b = append(l.b, b[max(len(b)-l.most, 0):]...)
	l.b = l.b[max(len(l.b)-l.most, 0):]
	return n, nil
}

func (l *last) String() string { return string(bytes.ToValidUTF8(bytes.TrimSpace(l.b), nil)) }
