package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	trapeze "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

// state is how something that was looked at stands.
type state string

const (
	fine  state = "ok"
	noted state = "note" // works, or is not used, or could not be looked at
	wrong state = "mend"
)

// finding is what came of one look.
type finding struct {
	Check string `json:"check"`
	State state  `json:"state"`
	Says  string `json:"says"`
	Mend  string `json:"mend,omitempty"` // what to do
}

// findings is what doctor says.
type findings struct {
	Findings []finding `json:"findings"`
	Wrong    int       `json:"wrong"` // how many must be mended
}

const doctorLong = `Check the whole set-up: this program, the data directory and who may read it, the server, clocks, disk, tokens, the policy, each
client's file, and the way that an agent's client comes in. Nothing is changed and no server is started.

The exit code is 1 if something must be mended, and each such line says how.

    trapeze doctor --json`

// Doctor is the command trapeze doctor.
func Doctor(s *shell.Shell) *cobra.Command {
	var cmd *cobra.Command
	cmd = s.Command("doctor", "Check the set-up, and say what to mend", shell.NoArgs, func(ctx context.Context, _ []string) error {
		p, err := standing(s.Getenv)
		if err != nil {
			return err
		}
		d := &physician{s: s, p: p}
		d.stdio = func() bool { c, _, err := cmd.Root().Find([]string{"mcp"}); return err == nil && c.Name() == "mcp" }()
		if d.dir, err = s.DataDir(); err != nil {
			return shell.Usage(err)
		}
		d.program()
		d.directory()
		d.disk()
		d.server(ctx)
		d.tokens(ctx)
		d.clients(ctx)
		d.hooks()
		d.handshakes(ctx)
		out := findings{Findings: d.list}
		for _, f := range d.list {
			if f.State == wrong {
				out.Wrong++
			}
		}
		if err := s.Emit(out, func(p *shell.Page) { showFindings(p, out) }); err != nil || out.Wrong == 0 {
			return err
		}
		return shell.Hinted(fmt.Errorf("%d of %d must be mended", out.Wrong, len(out.Findings)), "the lines that begin with mend say how")
	})
	cmd.Long = doctorLong
	return cmd
}

func showFindings(p *shell.Page, out findings) {
	for _, f := range out.Findings {
		p.Line("%-5s %-10s %s", f.State, f.Check, shell.OneLine(f.Says))
		if f.Mend != "" {
			p.Line("%-5s %-10s   %s", "", "", shell.OneLine(f.Mend))
		}
	}
	if out.Wrong == 0 {
		p.Line("Nothing needs mending.")
	}
}

// physician looks at one thing after the other.
type physician struct {
	s    *shell.Shell
	p    places
	dir  string
	list []finding

	stdio   bool            // there is trapeze mcp
	up      bool            // the server answers and can do its work
	badFile string          // why the server's policy file is not in force
	given   *trapeze.Client // with the token that was given, or the owner's; nil without the server
	agents  []string        // those whose token is kept and counts
	used    map[string]bool // those that a client's file names
}

func (d *physician) says(check string, s state, mend, format string, args ...any) {
	d.list = append(d.list, finding{Check: check, State: s, Says: fmt.Sprintf(format, args...), Mend: mend})
}

// program looks at this program, and at what its name stands for in PATH.
func (d *physician) program() {
	self, err := os.Executable()
	if err != nil {
		d.says("program", wrong, "install it again", "it cannot tell where it is: %v", err)
		return
	}
	switch name, err := lookPath("trapeze"); {
	case err != nil:
		d.says("program", noted, "put "+filepath.Dir(self)+" into PATH: clients' files that name just trapeze do not find it otherwise",
			"%s, version %s, is not in PATH", self, shell.Version())
	case !sameFile(name, self):
		d.says("program", noted, "run that one, or put this one first", "this is %s, version %s, but in PATH is %s", self, shell.Version(), name)
	default:
		d.says("program", fine, "", "%s, version %s", name, shell.Version())
	}
}

// mostKept is how many tokens are looked at.
const mostKept = 200

// directory looks at the data directory and at who may read what is in it.
func (d *physician) directory() {
	info, err := os.Stat(d.dir)
	switch {
	case os.IsNotExist(err):
		d.says("data", noted, "", "%s is not there yet: a server makes it", d.dir)
		return
	case err != nil || !info.IsDir():
		d.says("data", wrong, "name another with --data-dir, or make it readable to you", "%s is no directory that can be read (%v)", d.dir, err)
		return
	}
	paths := []string{d.dir}
	for _, name := range []string{"admin.token", "trapeze.db", "serve.lock", "serve.log", "artifacts", "agents", "backups"} {
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
		d.says("data", wrong, "chmod go= "+strings.Join(open, " "), "others may read %s", strings.Join(open, ", "))
		return
	}
	d.says("data", fine, "", "%s is yours alone", d.dir)
}

// kept are the files of kept tokens.
func (d *physician) kept() []string {
	list, err := filepath.Glob(filepath.Join(escapeGlob(d.dir), "agents", "*.token"))
	if err != nil {
		return nil
	}
	return list[:min(len(list), mostKept)]
}

// escapeGlob makes of a directory's name a pattern that is that name.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

const (
	littleSpace = 1 << 30   // bytes: soon there will be none
	noSpace     = 128 << 20 // bytes: the server refuses writes before a disk is full
)

func (d *physician) disk() {
	dir := d.dir
	for !exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	free, known := freeSpace(dir)
	switch {
	case !known:
		d.says("disk", noted, "", "how much space is left is not known on this system")
	case free < noSpace:
		d.says("disk", wrong, "make room: without it nothing new is taken", "%d MiB are left for %s", free>>20, d.dir)
	case free < littleSpace:
		d.says("disk", noted, "make room before it is full", "%d MiB are left for %s", free>>20, d.dir)
	default:
		d.says("disk", fine, "", "%d GiB are left for %s", free>>30, d.dir)
	}
}
