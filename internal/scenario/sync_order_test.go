//go:build slow && linux && !race

package scenario

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// No answer is sent before the entry that it names is on the disk. Killing a process cannot show that, because what
// was written but not synced survives it. The order of system calls can: for every acknowledged call, the bytes of its
// entry must be written to the write-ahead log, then a sync of that file must begin and succeed, and only then may any
// answer leave that names the entry's position.

func TestNoAnswerLeavesBeforeItsEntryIsSynced(t *testing.T) {
	embedded(t)
	tr, deeds := traced32(t, modeServe, buildProgram(t))
	v := tr.hold(deeds)
	t.Logf("%d system calls; %d acknowledged writes, each written, synced and then answered; %d syncs of the log; "+
		"%d answers shared a sync with others", tr.lines, v.proved, len(tr.syncs), v.shared)
	for _, err := range v.faults {
		t.Error(err)
	}
	if v.proved < 500 || v.shared < 50 {
		t.Error("too easy")
	}
}

func TestAnAnswerThatLeavesBeforeTheSyncIsCaught(t *testing.T) {
	embedded(t)
	tr, deeds := traced32(t, modeBehind, nil)
	v := tr.hold(deeds)
	if len(v.faults) == 0 || !errors.Is(v.faults[0], errEarly) {
		t.Errorf("nobody has noticed: %v", v.faults)
	}
	t.Logf("%d of %d answers were early, as planted", v.early, v.early+v.proved)
}

// traced32 lets a client call one by one, and then many at once, and returns the trace of the server's system calls.
func traced32(t *testing.T, mode string, program []string) (*syscalls, []*deed) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c := newCampaign(t, mode)
	r := newRig(t, t.TempDir(), mode)
	path := filepath.Join(t.TempDir(), "trace")
	r.program = program
	r.wrap = []string{
		"strace", "-f", "-y", "-s", "131072", "--seccomp-bpf", "-o", path, // all that a commit writes by one call
		"-e", "trace=fsync,fdatasync,sync_file_range,pwrite64,write,writev,sendto,sendmsg,sendfile",
	}
	crew := c.hire(r)
	// The process is strace's child. Killing strace would leave it behind.
	pid := holder(t, r.dir)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	for range 60 { // one at a time
		crew.actors[0].turn()
		crew.actors[1].turn()
	}
	ctx, stop := context.WithCancel(t.Context())
	wait := crew.work(ctx)
	for deadline := time.Now().Add(patience); crew.acked.Load() < 1500 && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	stop()
	wait()
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.ended:
	case <-time.After(patience):
		t.Fatalf("the server does not stop:\n%s", r.stderr)
	}
	stored, err := framesOf(filepath.Join(r.dir, "trapeze.db"))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := readTrace(path, stored)
	if err != nil {
		t.Fatal(err)
	}
	return tr, crew.deeds()
}

// holder returns the process that has the data directory open.
func holder(t *testing.T, dir string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "trapeze.db.lock")) //nolint:gosec // ours
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 {
		t.Fatalf("the lock says %q", b)
	}
	return pid
}

// syscalls are the system calls that matter, in the order in which they were traced. A place in that order is the
// number of a line; calls that overlap with others have a line for their beginning and one for their end.
type syscalls struct {
	lines   int
	stored  map[string]uint64 // beginning of a stored entry → its position
	written map[uint64]int    // position → end of the first write to the log that has the entry
	syncs   []span            // of the log, those that succeeded
	answers map[uint64]int    // position → beginning of the first answer that names it
}

type span struct{ from, to int }

var (
	errEarly  = errors.New("an answer left before the sync")
	errUnseen = errors.New("not seen")

	callLine    = regexp.MustCompile(`^(\d+) +(\w+)\((.*)$`)
	resumedLine = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>(.*)$`)
	positionIn  = regexp.MustCompile(`Trapeze-Position: (\d+)\\r\\n`)
)

// The first bytes of a stored entry identify it: what names its framing, a checksum, and some of the entry.
const (
	framing     = 4
	frameBegins = 16
)

// framesOf returns the beginnings of the stored entries in a database, with their positions.
func framesOf(path string) (map[string]uint64, error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), "SELECT position, substr(bytes, 1, ?) FROM entries", frameBegins)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	stored := map[string]uint64{}
	for rows.Next() {
		var at uint64
		var begins []byte
		if err := rows.Scan(&at, &begins); err != nil {
			return nil, err
		}
		if begins[0] != framing {
			return nil, fmt.Errorf("position %d is stored with framing %d, which this test does not look for", at, begins[0])
		}
		stored[string(begins)] = at
	}
	return stored, rows.Err()
}

// unescape returns the bytes of a string as strace shows them.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		if at := strings.IndexByte("tnvfr", s[i]); at >= 0 {
			b = append(b, "\t\n\v\f\r"[at])
			continue
		}
		n, octal := 0, byte(0)
		for ; n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7'; n++ {
			octal = octal<<3 + (s[i+n] - '0')
		}
		if n == 0 {
			b = append(b, s[i]) // a quote or a backslash
			continue
		}
		b = append(b, octal)
		i += n - 1
	}
	return string(b)
}

func readTrace(path string, stored map[string]uint64) (*syscalls, error) {
	tr := &syscalls{stored: stored, written: map[uint64]int{}, answers: map[uint64]int{}}
	var err error
	tr.lines, err = eachCall(path, tr.begins, tr.call)
	return tr, err
}

// eachCall yields the system calls in a trace: when each begins, and when it has ended.
func eachCall(path string, begins func(name, args string, line int), ends func(name, args string, s span)) (n int, err error) {
	f, err := os.Open(path) //nolint:gosec // ours
	if err != nil {
		return 0, err
	}
	defer f.Close()
	open := map[string]unfinished{} // by thread
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		n++
		line := lines.Text()
		if m := resumedLine.FindStringSubmatch(line); m != nil {
			u := open[m[1]]
			delete(open, m[1])
			ends(m[2], u.args+m[3], span{u.from, n})
			continue
		}
		m := callLine.FindStringSubmatch(line)
		if m == nil {
			continue // signals and ends
		}
		if args, ok := strings.CutSuffix(m[3], " <unfinished ...>"); ok {
			open[m[1]] = unfinished{args, n}
			begins(m[2], args, n)
			continue
		}
		begins(m[2], m[3], n)
		ends(m[2], m[3], span{n, n})
	}
	for _, u := range open { // the process ended within
		begins("write", u.args, u.from)
	}
	return n, lines.Err()
}

type unfinished struct {
	args string
	from int
}

// begins notes answers: they leave when the call begins, at the earliest.
func (tr *syscalls) begins(name, args string, line int) {
	if strings.HasPrefix(name, "pwrite") || !strings.Contains(args, `"HTTP/1.1 2`) {
		return
	}
	for _, m := range positionIn.FindAllStringSubmatch(args, -1) {
		at, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			continue
		}
		if _, ok := tr.answers[at]; !ok {
			tr.answers[at] = line
		}
	}
}

// call notes writes to the log and syncs of it, when they have ended.
func (tr *syscalls) call(name, args string, s span) {
	if file, _, _ := strings.Cut(args, ">"); !strings.HasSuffix(file, "/trapeze.db-wal") {
		return
	}
	switch {
	case name == "pwrite64":
		tr.frames(unescape(args), s.to)
	case (name == "fsync" || name == "fdatasync") && strings.HasSuffix(args, "= 0"):
		tr.syncs = append(tr.syncs, s)
	}
}

// frames notes the entries in a write to the log.
func (tr *syscalls) frames(bytes string, end int) {
	for i := 0; i+frameBegins <= len(bytes); i++ {
		if bytes[i] != framing {
			continue
		}
		at, ok := tr.stored[bytes[i:i+frameBegins]]
		if _, before := tr.written[at]; ok && !before {
			tr.written[at] = end
		}
	}
}

// verdict is the result of a trace.
type verdict struct {
	faults                []error
	proved, shared, early int
}

// hold looks for the write, the sync and the answer of every acknowledged call.
func (tr *syscalls) hold(deeds []*deed) (v verdict) {
	users := map[int]int{}
	for _, d := range deeds {
		if !d.done || d.refused != "" || len(d.receipt.Events) == 0 {
			continue
		}
		switch sync, err := tr.proof(d); {
		case err == nil:
			v.proved++
			users[sync]++
		case errors.Is(err, errEarly):
			v.early++
			v.faults = append([]error{err}, v.faults...)
		default:
			v.faults = append(v.faults, err)
		}
	}
	for _, n := range users {
		if n > 1 {
			v.shared += n
		}
	}
	v.faults = v.faults[:min(len(v.faults), 10)]
	return v
}

// proof returns the number of the sync between an entry's write and its answer.
func (tr *syscalls) proof(d *deed) (int, error) {
	answered, ok := tr.answers[d.receipt.Position]
	if !ok {
		return 0, fmt.Errorf("%w: the answer to %s, position %d", errUnseen, d, d.receipt.Position)
	}
	written, ok := tr.written[d.receipt.Position]
	if !ok {
		written = math.MaxInt
	}
	for i, s := range tr.syncs {
		if s.from > written {
			if s.to < answered {
				return i, nil
			}
			break
		}
	}
	if written == math.MaxInt {
		return 0, fmt.Errorf("%w: the bytes of %s, position %d, in the log", errUnseen, d, d.receipt.Position)
	}
	return 0, fmt.Errorf("%w: %s was written at line %d and answered at line %d of the trace, with no sync between", errEarly, d, written, answered)
}
