//go:build slow

package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// hostileArguments are values that a shell, or the program that it starts, could take for more than a value.
var hostileArguments = []string{
	"$(touch x)", "`touch x`", "a;touch x", "a\ntouch x\n", "${IFS}", "a'b;touch x;'", `a"b;touch x;"`, "-oProxyCommand=touch x", "--upload-pack=touch x",
}

// commandLine is the command at the end of a line.
var commandLine = regexp.MustCompile(`: ((?:trapeze|git) [a-z]+ .*)$|(--after .*)$`)

func TestEachCommandThatIsPrintedHasHostileValuesAsWords(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	bin, record := t.TempDir(), filepath.Join(t.TempDir(), "record")
	for _, name := range []string{"trapeze", "git", "touch"} {
		script := "#!" + sh + "\nfor a in \"$0\" \"$@\"; do printf '%s\\037' \"$a\"; done >>" + record + "\nprintf '\\n' >>" + record + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]bool{}
	for _, x := range shownBy {
		for _, value := range hostileArguments {
			for line := range strings.Lines(shown(t, x.args, x.answer, value)) {
				m := commandLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
				if m == nil {
					continue
				}
				command := m[1]
				if command == "" {
					command = "trapeze list " + m[2]
				}
				_ = os.Remove(record)
				cmd := exec.CommandContext(t.Context(), sh, "-c", command)
				cmd.Env, cmd.Dir = []string{"PATH=" + bin}, t.TempDir()
				out, err := cmd.CombinedOutput()
				ran, _ := os.ReadFile(record)
				word := "\x1f" + strings.NewReplacer("\n", " ").Replace(value)
				if err != nil || strings.Count(string(ran), "\n") != 1 || strings.Contains(string(ran), "/touch\x1f") {
					t.Errorf("trapeze %s with %q prints %q, which runs %q: %v %s", x.args, value, command, ran, err, out)
				} else if strings.Contains(string(ran), word) {
					found[x.args] = true
				}
				if strings.HasPrefix(value, "-") && strings.Contains(string(ran), word) && !strings.Contains(string(ran), "\x1f--\x1f") && m[1] != "" {
					t.Errorf("trapeze %s prints %q, where %q is an option", x.args, command, value)
				}
			}
		}
	}
	if len(found) < 9 {
		t.Errorf("only %d commands printed one with a hostile value: %v", len(found), found)
	}
}

// copies are commands that write what the server answers as it arrives.
var copies = []string{
	"audit export", "audit export --format csv", "audit export --format json " + hostileTask, "audit export " + hostileTask + " --skip-damaged --format jsonl",
	"artifact get sha256:" + strings.Repeat("0", 64) + " -o -", "events --count 1 --json", "events --count 1",
}

func TestNothingThatIsWrittenToATerminalHides(t *testing.T) {
	text, err := json.Marshal(map[string]string{"detail": hostileText})
	if err != nil {
		t.Fatal(err)
	}
	body := append(append([]byte(nil), text...), "\n"+hostileText+"\n"...)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path.Base(r.URL.Path) {
		case "me":
			_, _ = w.Write([]byte("{}"))
			return
		case "events":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte("id: 1\nevent: entry\ndata: {\"position\":1,\"kind\":\"task\",\"id\":\"\u202e\",\"actor\":\"\u009b31m\",\"events\":[\"\u200b\"]}\n\n"))
			return
		}
		for _, b := range body { // no character of several bytes, and no escape sequence, arrives in one piece
			_, _ = w.Write([]byte{b})
			if b >= utf8.RuneSelf || b == '\x1b' {
				w.(http.Flusher).Flush()
			}
		}
	}))
	defer srv.Close()
	for _, args := range copies {
		var out bytes.Buffer
		cli.Main(t.Context(), append([]string{"--url", srv.URL, "--token", "t"}, strings.Fields(args)...), cli.Env{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard, Getenv: func(string) string { return "" }, Terminal: true,
		})
		hidden := strings.IndexFunc(out.String(), func(r rune) bool { return visible.Hidden(r) && r != '\n' })
		if out.Len() == 0 || hidden >= 0 {
			t.Errorf("trapeze %s writes to a terminal:\n%q", args, out.String())
		}
	}
	for _, x := range shownBy { // with colours, which only the page itself has
		for _, how := range []string{"", " --json", " --quiet"} {
			if how != "" && strings.Contains(x.args, "--quiet") {
				continue
			}
			out := colour.ReplaceAllString(shownOn(t, x.args+how, x.answer, hostileText, true), "")
			if i := strings.IndexFunc(out, func(r rune) bool { return visible.Hidden(r) && r != '\n' }); i >= 0 {
				t.Errorf("trapeze %s%s writes %q to a terminal", x.args, how, out[i:])
			}
		}
	}
}

// colour matches what a page writes for its colours.
var colour = regexp.MustCompile("\x1b\\[(2|3[123]|0)m")
