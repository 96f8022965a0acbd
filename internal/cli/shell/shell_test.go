package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestEveryRefusalHasOneExitCode(t *testing.T) {
	for _, code := range refusal.Codes() {
		n := 0
		for _, e := range exits {
			for _, c := range e.of {
				if c == code {
					n++
				}
			}
		}
		if n != 1 {
			t.Errorf("%s is in the table %d times", code, n)
		}
		ours := ExitCode(fmt.Errorf("wrapped: %w", refusal.New(code, "", "no")))
		theirs := ExitCode(fmt.Errorf("wrapped: %w", &client.Error{Code: client.Code(code), Message: "no"}))
		if ours != theirs || ours < exitUsage {
			t.Errorf("%s ends with %d, or with %d when the server says it", code, ours, theirs)
		}
	}
}

func TestTheTableOfRefusalsHasEachCodeWithItsExitCode(t *testing.T) {
	page, err := os.ReadFile("../../../docs/refusals.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range refusal.Codes() {
		row := regexp.MustCompile("(?m)^\\| `"+string(code)+"` \\| \\d+ \\| (\\d+) \\|").FindAllStringSubmatch(string(page), -1)
		if len(row) != 1 || row[0][1] != fmt.Sprint(ExitCode(refusal.New(code, "", "no"))) {
			t.Errorf("%s: the table has %q; its exit code is %d", code, row, ExitCode(refusal.New(code, "", "no")))
		}
	}
}

func TestOtherErrorsHaveExitCodesToo(t *testing.T) {
	for want, err := range map[int]error{
		exitOK:          nil,
		exitFailure:     errors.New("something"),
		exitUsage:       Usagef("what?"),
		exitUnavailable: fmt.Errorf("client: %w", &url.Error{Op: "Get", Err: errors.New("connection refused")}),
	} {
		if got := ExitCode(err); got != want {
			t.Errorf("%v ends with %d, want %d", err, got, want)
		}
	}
	if got := ExitCode(context.Canceled); got != exitFailure {
		t.Errorf("an interrupted command ends with %d", got)
	}
}

func TestTheDataDirectoryIsTheSameForEverybody(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the user's configuration directory is not named by these variables")
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"TRAPEZE_DATA": "/srv/t", "HOME": "/home/li"}, "/srv/t"},
		{map[string]string{"XDG_DATA_HOME": "/xdg", "HOME": "/home/li"}, "/xdg/trapeze"},
		{map[string]string{"XDG_DATA_HOME": "relative", "HOME": "/home/li"}, "/home/li/.local/share/trapeze"},
		{map[string]string{"HOME": "/home/li"}, "/home/li/.local/share/trapeze"},
	} {
		got, err := DataDir(func(name string) string { return c.env[name] })
		if err != nil || got != c.want {
			t.Errorf("%v: %q, %v; want %q", c.env, got, err, c.want)
		}
	}
	if _, err := DataDir(func(string) string { return "" }); err == nil {
		t.Error("without a home there was a data directory")
	}
}

func TestOnlyItsOwnerCanReadAKeptToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents", "coder.token")
	if err := keepToken(path, "tz_secret"); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %04o", p, got)
		}
	}
	if got, err := readToken(path); err != nil || got != "tz_secret" {
		t.Errorf("read %q, %v", got, err)
	}
	if got, err := readToken(path + ".not"); err != nil || got != "" {
		t.Errorf("a missing file gave %q, %v", got, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := readToken(path); err == nil && runtime.GOOS != "windows" {
		t.Error("a file that the group may read was read")
	}
}

func TestTheCredentialIsChosenByRule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"admin.token": "owner", "agents/coder.token": "coder", "agents/tester.token": "tester"} {
		if err := keepToken(filepath.Join(dir, name), text); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name        string
		flag, agent string
		env         map[string]string
		want        string
	}{
		{name: "nothing said and no server", want: ""},
		{name: "an address and no server", env: map[string]string{"TRAPEZE_URL": "http://127.0.0.1:1"}, want: ""},
		{name: "a flag", flag: "given", want: "given"},
		{name: "the environment", env: map[string]string{"TRAPEZE_TOKEN": "env"}, want: "env"},
		{name: "a flag before the environment", flag: "given", env: map[string]string{"TRAPEZE_TOKEN": "env"}, want: "given"},
		{name: "an agent", agent: "coder", want: "coder"},
		{name: "an agent in the environment", env: map[string]string{"TRAPEZE_AGENT": "tester"}, want: "tester"},
		{name: "a flag's agent before the environment's", agent: "coder", env: map[string]string{"TRAPEZE_AGENT": "tester"}, want: "coder"},
		{name: "a worker's child", env: map[string]string{"TRAPEZE_AGENT": "tester", "TRAPEZE_TOKEN": "env"}, want: "env"},
		{name: "a worker's child by name", agent: "tester", env: map[string]string{"TRAPEZE_AGENT": "tester", "TRAPEZE_TOKEN": "env"}, want: "env"},
		{name: "a flag beside an agent in the environment", flag: "given", env: map[string]string{"TRAPEZE_AGENT": "tester"}, want: "given"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &Shell{Env: Env{Getenv: func(name string) string { return c.env[name] }}}
			s.Flags.DataDir, s.Flags.Token, s.Flags.Agent = dir, c.flag, c.agent
			got, err := s.Credential(t.Context())
			if noServer := c.want == ""; noServer != (refusal.CodeOf(err) == refusal.Unavailable) || !noServer && err != nil || got != c.want {
				t.Errorf("picked %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestTheOwnersTokenIsForTheServerOnTheDataDirectoryAlone: whatever listens at another address, or at that of a server that has stopped, does not get it.
func TestTheOwnersTokenIsForTheServerOnTheDataDirectoryAlone(t *testing.T) {
	dir := t.TempDir()
	if err := keepToken(filepath.Join(dir, "admin.token"), "owner"); err != nil {
		t.Fatal(err)
	}
	check := func(serves bool) {
		for urls, here := range map[string]bool{
			"http://127.0.0.1:1": true, "http://[::1]:1": true, "https://localhost:1": true, "localhost:1": true, "http://127.0.0.1:2,http://127.0.0.1:1": true,
			"http://192.0.2.2:1": false, "https://trapeze.example.org": false, "trapeze.example.org:8727": false, "http://localhost.example.org": false,
			"http://127.0.0.1@192.0.2.2:1": false, "http://localhost:1,http://192.0.2.2:1": false,
		} {
			s := &Shell{Env: Env{Getenv: func(string) string { return "" }}}
			s.Flags.DataDir, s.Flags.URL = dir, urls
			got, err := s.Credential(t.Context())
			code, want := refusal.Unauthenticated, ""
			switch {
			case here && serves:
				code, want = "", "owner"
			case here:
				code = refusal.Unavailable
			}
			if got != want || (err == nil) != (want != "") || err != nil && refusal.CodeOf(err) != code {
				t.Errorf("%s, a server is there: %v: %q, %v", urls, serves, got, err)
			}
		}
	}
	check(false)
	release, err := daemon.Hold(t.Context(), dir, "http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	check(true)
	release()
	check(false)
}

// TestTheKeptTokenOfAnAgentIsForItsServerAlone keeps one for the servers of this machine and one for another server.
func TestTheKeptTokenOfAnAgentIsForItsServerAlone(t *testing.T) {
	dir := t.TempDir()
	at := func(urls string) *Shell {
		s := &Shell{Env: Env{Getenv: func(string) string { return "" }}}
		s.Flags.DataDir, s.Flags.URL, s.Flags.Agent = dir, urls, "ann"
		return s
	}
	for urls, token := range map[string]string{"http://127.0.0.1:1": "here", "https://trapeze.example.org": "there"} {
		path, err := at(urls).agentTokenFile("ann")
		if err == nil {
			err = keepToken(path, token)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for urls, want := range map[string]string{
		"http://127.0.0.1:1": "here", "http://localhost:2": "here", "https://trapeze.example.org": "there", "trapeze.example.org": "there",
		"http://trapeze.example.org": "", "https://evil.example.org": "", "https://trapeze.example.org,https://evil.example.org": "", "http://localhost:1,http://192.0.2.2:1": "",
		"http://127.0.0.1@192.0.2.2:1": "", "https://trapeze.example.org@evil.example.org": "",
	} {
		if got, err := at(urls).Credential(t.Context()); got != want || (err == nil) != (want != "") {
			t.Errorf("%s is given %q, %v; want %q", urls, got, err, want)
		}
	}
}

func TestAReceiptSaysWhatIsMissingAndWhatIsReplaced(t *testing.T) {
	many := map[string]string{}
	for i := range 12 {
		many[fmt.Sprintf("fact:f%02d", i)] = "replaced"
	}
	for want, e := range map[string]client.Sealed{
		"version 1.4": {Completeness: 1},
		"version 1.4, replaced by what was given with it: decision:b, fact:b":                                                                                             {Completeness: 1, Missing: map[string]string{"fact:b": "replaced", "decision:b": "replaced"}},
		"version 1.4, 1 reference, completeness 100 %, replaced by what was given with it: fact:b":                                                                        {Completeness: 1, References: []string{"mem_1"}, Missing: map[string]string{"fact:b": "replaced"}},
		"version 1.4, 0 references, completeness 0 % (mem_2: not found), replaced by what was given with it: f:b":                                                         {Missing: map[string]string{"f:b": "replaced", "mem_2": "not_found"}},
		"version 1.4, replaced by what was given with it: fact:f00, fact:f01, fact:f02, fact:f03, fact:f04, fact:f05, fact:f06, fact:f07, fact:f08, fact:f09, and 2 more": {Completeness: 1, Missing: many},
	} {
		e.Version = "1.4"
		if got := sealed(&e); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestPointsMayHaveIds(t *testing.T) {
	got := points([]string{"just text: a = b", "size=12 files", "size.2<size=13 files", "two words=no id"})
	want := []client.Point{
		{Text: "just text: a = b"},
		{ID: "size", Text: "12 files"},
		{ID: "size.2", Supersedes: "size", Text: "13 files"},
		{Text: "two words=no id"},
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

func TestTextComesFromArgumentsFilesAndStdin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "note")
	if err := os.WriteFile(file, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Shell{Env: Env{Stdin: strings.NewReader("from standard input")}}
	for arg, want := range map[string]string{"-": "from standard input", "@" + file: "from a file", "@@li": "@li", "plain": "plain"} {
		if got, err := s.Text(arg); err != nil || got != want {
			t.Errorf("%q is %q, %v", arg, got, err)
		}
	}
	s.Stdin = bytes.NewReader(make([]byte, maxInput+1))
	if _, err := s.Text("-"); ExitCode(err) != exitUsage {
		t.Errorf("too much gave %v", err)
	}
}

func TestNoControlCharacterReachesATerminal(t *testing.T) {
	p := &Page{}
	p.Fields([]Field{{"intent", "red \x1b[31m and \u202e back\nwards"}})
	p.Table("", []string{"A"}, [][]string{{"x\x07y"}})
	p.Block("one\ntwo\x1b]0;title\x07")
	got := p.b.String()
	for _, bad := range []string{"\x1b", "\x07", "\u202e"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q holds %q", got, bad)
		}
	}
	if !strings.Contains(got, `⟨U+202E⟩ back wards`) || !strings.Contains(got, "one\ntwo") {
		t.Errorf("got %q", got)
	}
}

func TestColoursDoNotShiftColumns(t *testing.T) {
	rows := func() [][]string { return [][]string{{"ready", "x"}, {"half_open", "y"}} }
	plain, bright := &Page{}, &Page{colour: true}
	plain.Table("", []string{"STATE", "WHO"}, rows())
	bright.Table("", []string{"STATE", "WHO"}, rows())
	stripped := bright.b.String()
	for _, code := range []string{"2", "31", "32", "33", "0"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+code+"m", "")
	}
	if stripped != plain.b.String() || stripped == bright.b.String() {
		t.Errorf("plain:\n%s\nbright:\n%s", plain.b.String(), bright.b.String())
	}
}

func TestOutputThatIsNoTerminalIsPlain(t *testing.T) {
	s := &Shell{Env: Env{Stdout: &bytes.Buffer{}, Getenv: func(string) string { return "" }}}
	if s.colours() {
		t.Error("colours go into a pipe")
	}
}

func TestAMomentIsATimeOrADurationByTheClockOfTheServer(t *testing.T) {
	now := time.Date(2050, 1, 31, 15, 0, 0, 0, time.UTC)
	clock := func() (time.Time, error) { return now, nil }
	if got, err := moment("--x", "2h", 1, clock); err != nil || !got.Equal(now.Add(2*time.Hour)) {
		t.Errorf("2h is %s, %v", got, err)
	}
	if got, err := moment("--x", "2h", -1, clock); err != nil || !got.Equal(now.Add(-2*time.Hour)) {
		t.Errorf("2h ago is %s, %v", got, err)
	}
	never := func() (time.Time, error) { panic("nobody asked for the time") }
	if got, err := moment("--x", "2030-01-31T17:00:00Z", 1, never); err != nil || got.Year() != 2030 {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := moment("--x", "", 1, never); err != nil || !got.IsZero() {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := moment("--x", "-2h", 1, never); ExitCode(err) != exitUsage {
		t.Errorf("got %v", err)
	}
}

func TestTextOfAServerIsEscaped(t *testing.T) {
	var b bytes.Buffer
	s := &Shell{Env: Env{Stderr: &b}}
	s.PrintError(&client.Error{Code: "x\x1b[31m", Message: "m\x1b[2J", Hint: "h\u202e"})
	if got := b.String(); strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, `x⟨U+001B⟩[31m: m`) {
		t.Errorf("%q", got)
	}
}
