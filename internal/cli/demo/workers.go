package demo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// role is an agent of the demo, and its worker.
type role struct {
	name      string
	does      string
	window    int    // context window in tokens; a prompt takes half of it at most
	tokenizer string // empty: o200k_base
	fallbacks []string
	program   []string // for demo-stage
	preview   string   // for demo-stage
}

// roles are the agents. Those that fail have a fallback.
var roles = []role{
	{name: "surveyor", does: "lists packages and files", window: 16_000, program: []string{"survey"}},
	{name: "analyst", does: "measures packages", window: 8_000, fallbacks: []string{"analyst-2"}, program: []string{"analyse", "--hang-after", "3"}},
	{name: "analyst-2", does: "measures packages", window: 4_000, program: []string{"analyse"}},
	{name: "writer", does: "writes reports", window: 8_000, fallbacks: []string{"writer-2"}, program: []string{"write"}, preview: "overloaded"},
	{name: "writer-2", does: "writes reports", window: 1_300, tokenizer: "cl100k_base", program: []string{"write"}},
	{name: "reviewer", does: "checks reports", window: 4_000, program: []string{"review"}, preview: "stuck"},
}

// route is the route of the task.
var route = []string{"surveyor", "analyst", "writer", "reviewer"}

// workers are the running workers.
type workers struct {
	executable string
	url, dir   string
	log        *os.File

	mu     sync.Mutex
	byName map[string]*worker
}

type worker struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// start starts the worker of one role.
func (c *workers) start(r role) error {
	args := []string{"work", "--agent", r.name, "--url", c.url, "--data-dir", c.dir}
	if r.preview != "" {
		args = append(args, "--preview", c.executable, "--preview-arg", "demo-stage", "--preview-arg", r.preview)
	}
	args = append(append(args, "--", c.executable, "demo-stage"), r.program...)
	cmd := exec.Command(c.executable, args...) //nolint:gosec,noctx // this program; stopAll ends it
	cmd.Stdout, cmd.Stderr = c.log, c.log
	if err := cmd.Start(); err != nil {
		return err
	}
	w := &worker{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		if err := cmd.Wait(); err != nil {
			fmt.Fprintf(c.log, "the worker of %s exited: %s\n", r.name, err)
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byName[r.name] = w
	return nil
}

// pid is the process id of a role's worker.
func (c *workers) pid(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byName[name].cmd.Process.Pid
}

// kill kills a worker, as kill -9 does, and waits until it has exited.
func (c *workers) kill(name string) {
	c.mu.Lock()
	w := c.byName[name]
	delete(c.byName, name)
	c.mu.Unlock()
	if w == nil {
		return
	}
	_ = w.cmd.Process.Kill()
	<-w.done
}

// stopAll stops the remaining workers, and kills those that do not exit.
func (c *workers) stopAll() {
	c.mu.Lock()
	left := c.byName
	c.byName = map[string]*worker{}
	c.mu.Unlock()
	for _, w := range left {
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
	}
	patience := time.After(5 * time.Second)
	for _, w := range left {
		select {
		case <-w.done:
		case <-patience:
			_ = w.cmd.Process.Kill()
			<-w.done
		}
	}
}

// ready waits until all agents are ready.
func ready(ctx context.Context, c *client.Client) error {
	for {
		list, err := c.Agents(ctx)
		if err != nil {
			return err
		}
		waiting := 0
		for _, a := range list.Agents {
			if a.Readiness != client.Ready {
				waiting++
			}
		}
		if waiting == 0 && len(list.Agents) > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d workers did not become ready", waiting)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
