//go:build outside

package outside

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/scenario/program"
)

// patience is how long a program may take before it counts as hung.
const patience = 3 * time.Minute

func TestMain(m *testing.M) { program.Main(m) }

// place is a home directory with a project and a server: all that a program sees of the machine, except for its other programs.
type place struct {
	home, project, data string
	addr                string
	env                 []string
	server              *program.Server
	admin               *client.Client
}

func newPlace(t *testing.T) *place {
	t.Helper()
	home := t.TempDir()
	p := &place{home: home, project: filepath.Join(home, "project"), data: filepath.Join(home, "data"), addr: freeaddr.New(t, 1)[0]}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", p.project).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	modules, err := filepath.Abs(filepath.Join("testdata", "node_modules", ".bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		t.Fatal("nothing is installed: run `npm ci` in testdata, or .ci/run outside")
	}
	p.env = []string{
		"PATH=" + strings.Join([]string{program.Dir(), modules, os.Getenv("PATH")}, string(filepath.ListSeparator)),
		"HOME=" + home, "TRAPEZE_DATA=" + p.data, "TRAPEZE_URL=http://" + p.addr, "NO_COLOR=1", "TMPDIR=" + home, "TERM=dumb",
	}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Error(err)
		} else if t.Failed() {
			t.Logf("the server has written:\n%s", tail(p.server.Said()))
		}
	})
	return p
}

func (p *place) start() (err error) {
	if p.server, err = program.Serve(p.command(context.Background(), "trapeze", "serve", "--addr", p.addr, "--json")); err == nil {
		p.admin, err = client.New(p.server.URL, p.server.Token, client.Options{})
	}
	return err
}

func (p *place) stop() error { return p.server.Stop() }

// as is a client with the token in a file of the data directory.
func (p *place) as(file string) (*client.Client, error) {
	token, err := os.ReadFile(filepath.Join(p.data, file))
	if err != nil {
		return nil, err
	}
	return client.New("http://"+p.addr, strings.TrimSpace(string(token)), client.Options{})
}

// command is a program with the place's environment and nothing else.
func (p *place) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := name
	for _, dir := range filepath.SplitList(strings.TrimPrefix(p.env[0], "PATH=")) {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			path = filepath.Join(dir, name)
			break
		}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = p.project, p.env
	return cmd
}

// run runs a program to its end, and fails the test if it fails.
func (p *place) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := p.command(ctx, name, args...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, tail(out.String()), tail(errs.String()))
	}
	if strings.Contains(errs.String(), "Unknown SSE event") { // clients of the older protocol warn so
		t.Errorf("%s is sent what it does not know:\n%s", name, tail(errs.String()))
	}
	return out.String()
}

// tail is the end of what a program has said.
func tail(s string) string { return s[max(0, len(s)-6000):] }

// write writes a file below the home directory.
func (p *place) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// agent registers an agent that `trapeze init` does not set up, and returns its client and its token.
func (p *place) agent(t *testing.T, name string) (*client.Client, string) {
	t.Helper()
	if _, err := p.admin.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	made, err := p.admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New("http://"+p.addr, made.Text, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c, made.Text
}
