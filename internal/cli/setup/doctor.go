package setup

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// state is the result of a check.
type state string

const (
	fine  state = "ok"
	noted state = "note" // works, or is not used, or could not be checked
	wrong state = "fix"
)

// finding is the result of one check.
type finding struct {
	Check   string `json:"check"`
	State   state  `json:"state"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"` // what to do
}

// findings is the answer of doctor.
type findings struct {
	Findings []finding `json:"findings"`
	Wrong    int       `json:"wrong"` // number of problems
}

const doctorLong = `Check the set-up: this program, the data directory and its permissions, the server, clocks, disk space, tokens, the policy, the files
of all clients, and connections as a client makes them. Nothing is changed, and no server is started.

The exit code is 1 if, and only if, something needs to be fixed: a line begins with fix, and the next one says how. It is 0 otherwise, also with lines
that begin with note, of what works, is not used or could not be checked.

    trapeze doctor --json`

// Doctor is the command trapeze doctor.
func Doctor(s *shell.Shell) *cobra.Command {
	cmd := s.Command("doctor", "Check the set-up, and show how to fix problems", shell.NoArgs, func(ctx context.Context, _ []string) error {
		p, err := currentPlaces(s.Getenv)
		if err != nil {
			return err
		}
		d := &checker{s: s, p: p}
		if d.dir, err = s.DataDir(); err != nil {
			return shell.Usage(err)
		}
		d.program()
		d.directory()
		d.disk()
		d.server(ctx)
		d.tokens(ctx)
		d.acting(ctx)
		d.clients(ctx)
		d.hooks(ctx)
		d.handshakes(ctx)
		out := judged(d.list)
		if err := s.Emit(out, func(p *shell.Page) { showFindings(p, out) }); err != nil {
			return err
		}
		return out.err()
	})
	cmd.Long = doctorLong
	return cmd
}

// judged counts the problems among findings.
func judged(list []finding) findings {
	out := findings{Findings: list}
	for _, f := range list {
		if f.State == wrong {
			out.Wrong++
		}
	}
	return out
}

// err is nil if, and only if, nothing needs to be fixed.
func (f findings) err() error {
	if f.Wrong == 0 {
		return nil
	}
	return shell.Hinted(fmt.Errorf("%d of %d checks found a problem", f.Wrong, len(f.Findings)), "fix the problems in the lines that begin with fix")
}

func showFindings(p *shell.Page, out findings) {
	for _, f := range out.Findings {
		p.Line("%-5s %-10s %s", f.State, f.Check, shell.OneLine(f.Message))
		if f.Fix != "" {
			p.Line("%-5s %-10s   %s", "", "", shell.OneLine(f.Fix))
		}
	}
	if out.Wrong == 0 {
		p.Line("No problems found.")
	}
}

// checker runs the checks one after the other.
type checker struct {
	s    *shell.Shell
	p    places
	dir  string
	list []finding

	up      bool            // the server is ready
	http    *http.Client    // knows the server
	badFile string          // problem of the server's policy file
	given   *trapeze.Client // with the caller's token, or the owner's; nil without a server, or if it does not accept the token
	agents  []string        // agents with a valid kept token
	entries []setUp         // of clients' files, which can be started
}

func (d *checker) add(check string, s state, fix, format string, args ...any) {
	d.list = append(d.list, finding{Check: check, State: s, Message: fmt.Sprintf(format, args...), Fix: fix})
}

// program checks this program, and the one in PATH.
func (d *checker) program() {
	self, err := os.Executable()
	if err != nil {
		d.add("program", wrong, "install it again", "the path of this program is unknown: %v", err)
		return
	}
	switch name, err := lookPath("trapeze"); {
	case err != nil:
		d.add("program", noted, "clients' files that only name trapeze do not find it; put it there: export PATH="+shellword.Quote(filepath.Dir(self))+`:"$PATH"`,
			"%s, version %s, is not in PATH", self, shell.Version())
	case !sameFile(name, self):
		d.add("program", noted, "use that one, or put this one first: export PATH="+shellword.Quote(filepath.Dir(self))+`:"$PATH"`, "this is %s, version %s, but PATH has %s", self, shell.Version(), name)
	default:
		d.add("program", fine, "", "%s, version %s", name, shell.Version())
	}
}

// maxKept is the maximum number of tokens that are checked.
const maxKept = 200

// directory checks the data directory, and its permissions.
func (d *checker) directory() {
	info, err := os.Stat(d.dir)
	switch {
	case os.IsNotExist(err):
		d.add("data", noted, "", "%s does not exist yet: a server creates it", d.dir)
		return
	case err != nil || !info.IsDir():
		d.add("data", wrong, "set another one with --data-dir, or make it readable", "%s is not a readable directory (%v)", d.dir, err)
		return
	}
	paths := []string{d.dir}
	for _, name := range []string{"admin.token", "trapeze.db", "views.db", "serve.lock", "serve.log", "artifacts", "agents", "backups", "proof", "proof/key"} {
		paths = append(paths, filepath.Join(d.dir, name))
	}
	paths = append(paths, d.kept()...)
	var open []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && openToOthers(info) {
			open = append(open, path)
		}
	}
	if len(open) > 0 {
		d.add("data", wrong, "chmod go= "+shellword.Quotes(open...), "others can read %s", strings.Join(open, ", "))
		return
	}
	d.add("data", fine, "", "only you can read %s", d.dir)
}

// kept returns the files of kept tokens.
func (d *checker) kept() []string {
	list, err := filepath.Glob(filepath.Join(escapeGlob(d.dir), "agents", "*.token"))
	if err != nil {
		return nil
	}
	return list[:min(len(list), maxKept)]
}

// escapeGlob returns the pattern that matches only the directory.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

const (
	lowSpace = 1 << 30   // bytes: worth a note
	noSpace  = 128 << 20 // bytes: the server refuses writes before a disk is full
)

func (d *checker) disk() {
	dir := d.dir
	for !exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	free, known := freeSpace(dir)
	switch {
	case !known:
		d.add("disk", noted, "", "the free space is not known on this system")
	case free < noSpace:
		d.add("disk", wrong, "free some space: the server refuses writes otherwise", "%d MiB free for %s", free>>20, d.dir)
	case free < lowSpace:
		d.add("disk", noted, "free some space before the disk is full", "%d MiB free for %s", free>>20, d.dir)
	default:
		d.add("disk", fine, "", "%d GiB free for %s", free>>30, d.dir)
	}
}
