package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/server"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

func TestMain(m *testing.M) {
	// Stories wait more than they compute. A -parallel of the command line replaces this.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"trapeze": func() {
			os.Exit(cli.Main(whileTold(), os.Args[1:], cli.Env{
				Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Serve: serve,
				OpenRecord: func(dir string, segments ...string) (cli.RecordFile, error) {
					return server.OpenRecord(dir, segments...)
				},
				Copier:   copier,
				UsualURL: "http://127.0.0.1:1", // whatever runs on this machine, nobody listens there
			}))
		},
		"program": func() { os.Exit(program(os.Args[1:])) },
	})
}

var copier = cli.Copier{
	Backup: func(ctx context.Context, dir string, to io.Writer, o cli.BackupOptions) (cli.Backup, error) {
		made, err := server.Backup(ctx, dir, to, server.BackupOptions{After: o.After, Secrets: o.Secrets, Rate: o.Rate, Progress: o.Progress, Record: server.Place{Postgres: o.Record.Postgres}})
		return cli.Backup(made), err
	},
	Restore: func(ctx context.Context, dir, keys string, to cli.Place, from []io.Reader) (cli.Restored, error) {
		r, err := server.Restore(ctx, dir, keys, server.Place{Postgres: to.Postgres}, from)
		return cli.Restored(r), err
	},
	PutAway: func(ctx context.Context, dir string, before time.Time) (cli.Segment, error) {
		made, err := server.PutAway(ctx, dir, before)
		return cli.Segment(made), err
	},
}

// whileTold ends when its script does: a worker that waits for its program or for the server would outlive the script.
func whileTold() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for !over() {
			time.Sleep(100 * time.Millisecond) // between two looks
		}
	}()
	return ctx
}

// over reports whether the script of this process has ended. Its directory may have been removed by then.
func over() bool {
	dir := os.Getenv("WORK")
	_, err := os.Stat(filepath.Join(dir, "over"))
	_, gone := os.Stat(dir)
	return err == nil || os.IsNotExist(gone)
}

func serve(ctx context.Context, c cli.ServeConfig) error {
	conf := server.Config{DataDir: c.DataDir, Addr: c.Addr, Hosts: c.Hosts, Policy: c.Policy, Version: c.Version, Witnesses: c.Witnesses, RebuildViews: c.RebuildViews}
	if c.Ephemeral {
		conf.Temporary, conf.Clock = true, server.NewClock(time.Time{})
	}
	conf.TLS.Cert, conf.TLS.Key, conf.TLS.ClientCA, conf.BehindProxy = c.TLSCert, c.TLSKey, c.TLSClientCA, c.BehindProxy
	conf.Artifacts.MaxSize, conf.Artifacts.Quota.Bytes = c.MaxArtifact, c.ArtifactQuota
	return server.Run(ctx, conf, func(s *server.Server) { c.Ready(s.URL(), s.AdminTokenFile()) })
}

// The scripts in testdata/script run the real command line against a real server. In addition to testscript's commands they have:
//
//	server            starts a server for the script; sets TRAPEZE_URL and TRAPEZE_DATA
//	server stop       stops it; "server" starts it again, at the same address
//	server later D    starts it again, with its clock ahead by D
//	server erasable   starts one with an erasable record
//	exits N CMD…      runs a command that must end with this exit code
//	json VAR PATH     sets a variable to a field of the JSON on stdout: a.b.0.c
//	until TEXT CMD…   repeats a command until its output holds the text
//	mode MODE FILE    checks a file's permissions
//	within FILE       checks that a file has the lines of stdout, in order
//	mcp NAME says M   writes a line to trapeze mcp --agent NAME; the first line starts it. Its standard error is in NAME.log
//	mcp NAME hears I  waits for the answer with this ID, or a notification of this method, and prints it to stdout
//	mcp NAME leaves   closes its input, and waits until it exits; the next line starts it again
//	readme FILE       checks that what README.md shows as output stands in a file, except for figures
//	forge TASK        adds an acceptance that was never offered to the record of the task, while the server is stopped
//	pasted TEXT F…    runs trapeze doctor, pastes the fix of the problem whose message has the text, and checks that it is solved
//	acts NAME CMD…    runs a command as an agent, and checks that the commands in its output act as that agent
//	recipe N FILE     writes the command under the heading N of docs/recipes.md to a file
//
// and the condition [slow], which holds with the build tag slow: stories that begin with [!slow] skip run with it alone.
//
// $CA, $CERT and $KEY are files of a CA, and of a certificate of it for localhost and 127.0.0.1; $CERT2 and $KEY2 of another.
func TestStories(t *testing.T) {
	ca := certtest.NewCA(t)
	one, other := ca.Issue("localhost", "127.0.0.1"), ca.Issue("coder")
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			for name, file := range map[string]string{"CA": ca.File, "CERT": one.Cert, "KEY": one.Key, "CERT2": other.Cert, "KEY2": other.Key} {
				e.Setenv(name, file)
			}
			e.Setenv("GORACE", "atexit_sleep_ms=0") // under the race detector every command would end a second late
			e.Setenv("GOGC", "off")                 // commands end before they need it, and there are many
			e.Setenv("GOMEMLIMIT", "256MiB")        // for those that do not
			e.Defer(func() { byTheRules(t, filepath.Join(e.WorkDir, "data")) })
			e.Defer(func() { _ = os.WriteFile(filepath.Join(e.WorkDir, "over"), nil, 0o600) })
			e.Setenv("TRAPEZE_DATA", filepath.Join(e.WorkDir, "data"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": startServer, "exits": exits, "json": jsonField, "until": until, "mode": mode, "within": within, "recipe": recipe,
			"mcp": mcpClient, "readme": readme, "forge": forge, "pasted": pasted, "acts": acts,
		},
		Condition: func(name string) (bool, error) {
			if name != "slow" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return slowStories, nil
		},
	})
}

var (
	serversMu sync.Mutex
	servers   = map[string]*held{} // by data directory
)

// held is a server that holds its data directory, as one of trapeze serve does: commands find it there.
type held struct {
	*server.Server
	release func()
}

func (h *held) Close(ctx context.Context) error {
	h.release()
	return h.Server.Close(ctx)
}

func swapServer(dir string, s *held) (before *held) {
	serversMu.Lock()
	defer serversMu.Unlock()
	before = servers[dir]
	servers[dir] = s
	return before
}

func startServer(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.Getenv("TRAPEZE_DATA")
	if len(args) > 0 && args[0] != "erasable" {
		ts.Check(swapServer(dir, nil).Close(context.Background()))
	}
	conf := server.Config{DataDir: dir, Addr: strings.TrimPrefix(ts.Getenv("TRAPEZE_URL"), "http://")}
	switch {
	case len(args) == 1 && args[0] == "stop":
		return
	case len(args) == 1 && args[0] == "erasable":
		conf.Erasable = true
	case len(args) == 2 && args[0] == "later":
		by, err := time.ParseDuration(args[1])
		ts.Check(err)
		conf.Now = func() time.Time { return time.Now().Add(by) }
	case len(args) > 0:
		ts.Fatalf("server does not know %q", args)
	}
	s, err := openServer(conf)
	ts.Check(err)
	swapServer(dir, s)
	ts.Setenv("TRAPEZE_URL", s.URL())
	ts.Defer(func() {
		if s := swapServer(dir, nil); s != nil {
			_ = s.Close(context.Background())
		}
	})
}

// openServer opens a server, at its previous address if it had one. Its port is outside of the range of ephemeral ports: otherwise a
// connection could use the port while the server is away.
func openServer(c server.Config) (*held, error) {
	var s *server.Server
	var err error
	fresh := c.Addr == ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // between two tries
		if fresh {
			c.Addr = fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))
		}
		if s, err = server.Open(context.Background(), c); !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	release, err := daemon.Hold(context.Background(), c.DataDir, s.URL(), "")
	if err != nil {
		return nil, errors.Join(err, s.Close(context.Background()))
	}
	return &held{s, release}, nil
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func jsonField(ts *testscript.TestScript, _ bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for name := range strings.SplitSeq(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			ts.Check(err)
			if i >= len(x) {
				ts.Fatalf("%s: only %d there", args[1], len(x))
			}
			v = x[i]
		}
	}
	if v == nil {
		ts.Fatalf("the output has no %s", args[1])
	}
	text := fmt.Sprint(v)
	if f, ok := v.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	ts.Setenv(args[0], text)
}

// patience is how long a script waits for an expected output; no result depends on it.
const patience = 2 * time.Minute

func until(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) { // between two looks
		_ = ts.Exec(args[1], args[2:]...) // what it says counts
		if strings.Contains(ts.ReadFile("stdout"), args[0]) {
			return
		}
	}
	ts.Fatalf("%q never came; the last was\n%s%s", args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
}

func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s", args[1], got)
	}
}

func within(ts *testscript.TestScript, _ bool, args []string) {
	var lines []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		lines = append(lines, strings.TrimSpace(line))
	}
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		i := slices.Index(lines, strings.TrimSpace(line))
		if i < 0 {
			ts.Fatalf("%q is not in %s, or not there", line, args[0])
		}
		lines = lines[i+1:]
	}
}

func recipe(ts *testscript.TestScript, _ bool, args []string) {
	page, err := os.ReadFile(filepath.Join(sources, "docs", "recipes.md"))
	ts.Check(err)
	for part := range strings.SplitSeq(string(page), "\n## ") {
		if heading, text, _ := strings.Cut(part, "\n"); heading == args[0] {
			_, text, found := strings.Cut(text, "\n$ ")
			if !found {
				ts.Fatalf("there is no command under %q", heading)
			}
			command, _, _ := strings.Cut(text, "\n")
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte("exec "+command+"\n"), 0o600))
			return
		}
	}
	ts.Fatalf("docs/recipes.md has no heading %q", args[0])
}

// sources is the root of the module.
var sources, _ = filepath.Abs(filepath.Join("..", ".."))

// alive reports whether the process whose ID is in a file is alive. A zombie is not, unless some of its threads are: they still have files
// open.
func alive(file string) string {
	b, err := os.ReadFile(file)
	pid, _ := strconv.Atoi(string(b))
	if err != nil || pid == 0 {
		return "not yet"
	}
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") && len(threads) <= 1 {
		return "gone"
	}
	return "alive"
}

// program is a stand-in for the program of an agent.
func program(args []string) int {
	prompt, _ := io.ReadAll(os.Stdin)
	say := func(format string, a ...any) { fmt.Fprintf(os.Stderr, format+"\n", a...) }
	switch args[0] {
	case "intent": // what the prompt says is wanted, and where it found the rest
		_, rest, _ := strings.Cut(string(prompt), "## Request\n")
		lines := strings.Split(rest, "\n")
		envelope, err := os.ReadFile(os.Getenv("TRAPEZE_ENVELOPE"))
		if err != nil || !json.Valid(envelope) {
			say("no envelope: %v", err)
			return 9
		}
		fmt.Printf("did: %s as %s, epoch %s, for %s", lines[1], os.Getenv("TRAPEZE_AGENT"), os.Getenv("TRAPEZE_EPOCH"), os.Getenv("TRAPEZE_HANDOFF"))
	case "data": // whether the owner's things are out of sight
		fmt.Printf("data dir %q", os.Getenv("TRAPEZE_DATA"))
	case "fail":
		say("first this")
		say("then the stove went out")
		return 7
	case "progress":
		say("progress: kneaded")
		say("only a remark")
		say("progress: baked")
		fmt.Print("bread")
	case "json":
		fmt.Print(args[1])
	case "fix": // prints a correct result only after the first one was refused
		return fix(string(prompt), args[1:])
	case "big":
		size, _ := strconv.Atoi(args[1])
		os.Stdout.Write(make([]byte, size))
	case "hang":
		pid := strconv.Itoa(os.Getpid())
		if err := os.WriteFile(args[1], []byte(pid), 0o600); err != nil {
			return 9
		}
		for !over() {
			time.Sleep(100 * time.Millisecond)
		}
	case "is-alive":
		fmt.Println(alive(args[1]))
	case "gate": // waits until a file is there
		say("progress: waiting")
		for ; !over(); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(args[1]); err == nil {
				fmt.Print("through the gate")
				return 0
			}
		}
	case "run": // hands on, or ends the task, by a command of its own
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return 8
		}
		fmt.Print("this is not the result")
	case "documented":
		return documented(args[1], args[2:], say)
	case "agent":
		return codingAgent(args[1], args[2:], string(prompt), say)
	case "preview":
		var item struct {
			Intent string `json:"intent"`
			Task   string `json:"task"`
		}
		if json.Unmarshal(prompt, &item) != nil || item.Task != os.Getenv("TRAPEZE_TASK") {
			return 9
		}
		code, _ := strconv.Atoi(args[1])
		say("not today: %s", item.Intent)
		fmt.Println("recipe oven")
		return code
	}
	return 0
}

// fix prints a first result, and a second one if the first was refused and the prompt says why.
func fix(prompt string, args []string) int {
	_, back, given := strings.Cut(prompt, "## Fix your result")
	switch {
	case os.Getenv("TRAPEZE_ATTEMPT") == "1" && !given:
		fmt.Print(args[0])
	case os.Getenv("TRAPEZE_ATTEMPT") == "2" && strings.Contains(back, args[0]) && strings.Contains(back, args[2]):
		fmt.Print(args[1])
	default:
		return 9
	}
	return 0
}

// documented checks the help of trapeze work: it looks for each of its environment variables there, and runs each command there, with
// placeholders replaced by NAME=VALUE.
func documented(file string, replace []string, say func(string, ...any)) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 9
	}
	help := string(b)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "TRAPEZE_") && !strings.Contains(help, "    "+name+" ") {
			say("%s is not documented", name)
			return 9
		}
	}
	values := map[string]string{}
	for _, r := range replace {
		name, value, _ := strings.Cut(r, "=")
		values[name] = value
	}
	for line := range strings.Lines(help) {
		line, is := strings.CutPrefix(line, "    trapeze ")
		if !is || strings.HasPrefix(line, "send by CMD") {
			continue
		}
		line, _, _ = strings.Cut(line, "  ")
		args := strings.Fields(line)
		for i, arg := range args {
			if args[i] = os.ExpandEnv(arg); values[arg] != "" {
				args[i] = values[arg]
			}
		}
		cmd := exec.Command("trapeze", args...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			say("%q: %v", args, err)
			return 8
		}
		fmt.Printf("\n- did %s\n", line)
	}
	return 0
}
