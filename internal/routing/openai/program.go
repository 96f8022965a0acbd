package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/secretenv"
)

// programGrace is the time for a program to end after its input has ended.
const programGrace = time.Second

// program is a program on this machine that answers requests for embeddings: a line for each on its standard input, and a line
// for each answer on its standard output. It is started when it is first asked, runs on, and is started again after a failure.
type program struct {
	args []string
	turn chan struct{} // has one element while nobody is served

	ended context.Context //nolint:containedctx // the life of the program, not of a call
	end   context.CancelFunc
	cmd   *exec.Cmd // nil: not running; all below belong to the holder of the turn
	in    io.WriteCloser
	out   *bufio.Reader
	pipe  io.Closer // of out
	tail  *tail
}

func newProgram(args []string) *program {
	p := &program{args: args, turn: make(chan struct{}, 1)}
	p.ended, p.end = context.WithCancel(context.Background())
	p.turn <- struct{}{}
	return p
}

// post makes one call. If ctx ends before the answer, the program keeps what it has read, and the next call waits for it.
func (p *program) post(ctx context.Context, body []byte, most int) ([]byte, bool, *failure) {
	select {
	case <-p.turn:
	case <-p.ended.Done():
		return nil, false, failed(false, "%s is closed", p.name())
	case <-ctx.Done():
		return nil, false, failed(true, "%s is busy", p.name())
	}
	type result struct {
		answer []byte
		f      *failure
	}
	done := make(chan result, 1)
	go func() {
		answer, f := p.exchange(body, most)
		p.turn <- struct{}{}
		done <- result{answer, f}
	}()
	select {
	case r := <-done:
		return r.answer, true, r.f
	case <-ctx.Done():
		return nil, true, failed(true, "%s has not answered in time", p.name())
	}
}

// exchange writes one line and reads one. A program that fails, or takes longer than a batch may, is stopped.
func (p *program) exchange(body []byte, most int) (answer []byte, f *failure) {
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return nil, failed(false, "%s cannot be started: %s", p.name(), refusal.Clip(err.Error(), maxKept))
		}
	}
	// A program of the program could keep the output open, so that the end of the program alone does not end the reading.
	process, pipe := p.cmd.Process, p.pipe
	giveUp := func() { _ = errors.Join(process.Kill(), pipe.Close()) }
	late := time.AfterFunc(textsTimeout, giveUp)
	defer late.Stop()
	defer context.AfterFunc(p.ended, giveUp)()
	_, err := p.in.Write(append(body, '\n'))
	if err == nil {
		answer, err = line(p.out, most)
	}
	if err == nil {
		return answer, nil
	}
	if stopped := p.stop(); stopped != nil && errors.Is(err, io.EOF) {
		err = stopped
	}
	return nil, failed(true, "%s gives no answer: %s", p.name(), refusal.Clip(err.Error()+": "+p.tail.String(), maxKept))
}

// line reads a line of at most so many bytes.
func line(r *bufio.Reader, most int) ([]byte, error) {
	var all []byte
	for {
		part, err := r.ReadSlice('\n')
		all = append(all, part...)
		switch {
		case len(all) > most:
			return nil, errors.New("a line is too long")
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		}
		return all, err
	}
}

func (p *program) start() error {
	cmd := exec.CommandContext(p.ended, p.args[0], p.args[1:]...) //nolint:gosec // the owner of the server names it in its environment
	cmd.WaitDelay, cmd.Env = programGrace, secretenv.Without(os.Environ())
	p.tail = &tail{most: 300}
	cmd.Stderr = p.tail
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.in, p.out, p.pipe = cmd, in, bufio.NewReader(out), out
	return nil
}

// stop ends the program and returns how it ended.
func (p *program) stop() error {
	cmd := p.cmd
	p.cmd = nil
	_ = p.in.Close()
	kill := time.AfterFunc(programGrace, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	return cmd.Wait()
}

// Close ends the program. Calls fail from then on.
func (p *program) Close() {
	p.end()
	<-p.turn
	if p.cmd != nil {
		_ = p.stop()
	}
	p.turn <- struct{}{}
}

func (p *program) name() string { return "the program " + filepath.Base(p.args[0]) }

// tail keeps the end of what a program writes to its standard error.
type tail struct {
	most int

	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b[max(len(b)-t.most, 0):]...)
	t.b = t.b[max(len(t.b)-t.most, 0):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(bytes.TrimSpace(t.b), nil))
}
