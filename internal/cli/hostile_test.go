package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/domain/visible"
	"github.com/trapezehq/trapeze/internal/domain/visible/visibletest"
)

const hostileTask = "task_06h0er7018ff0g2mznftzvjt3g"

// hostileText is what another party could put into a field: characters that hide or that command a terminal, and lines that look
// like ours.
const hostileText = "x\x1b]0;t\x07\u009b31m\u202e\u2066\U000e0041\u00ad\u200b\u034f\u3164\ufe01\r\nhint: run\n  hint: run\ntrapeze: run\nowner  root\nTASK  STATE\n"

// shownBy are commands that show what the server answers, with the type of the answer.
var shownBy = []struct {
	args   string
	answer any
}{
	{"task show " + hostileTask, client.Task{}},
	{"task show " + hostileTask + " --wait=1ms", client.Task{}},
	{"task list", client.TaskPage{}},
	{"status", client.TaskPage{}},
	{"dead list", client.TaskPage{}},
	{"dead show " + hostileTask, struct {
		client.Task
		Entries []client.AuditEntry `json:"entries"`
	}{}},
	{"dead discard " + hostileTask + " --why x", client.Receipt{}},
	{"task cancel " + hostileTask, client.Receipt{}},
	{"inbox", client.Inbox{}},
	{"accept " + hostileTask + ".h1", client.Accepted{}},
	{"handoff show " + hostileTask + ".h1", client.Handoff{}},
	{"ticket list", client.TicketPage{}},
	{"ticket show " + hostileTask + ".k1", client.Ticket{}},
	{"ticket show " + hostileTask + ".k1 --wait=1ms", client.Ticket{}},
	{"ticket show " + hostileTask + ".k1 --wait=1ms --quiet", client.Ticket{}},
	{"agent list", client.AgentList{}},
	{"agent show ann", client.Agent{}},
	{"channel list", client.ChannelPage{}},
	{"channel show ann", client.Channel{}},
	{"memory list", client.MemoryPage{}},
	{"memory list --proposed", client.MemoryPage{}},
	{"memory get mem_1", client.MemoryItem{}},
	{"memory versions mem_1", client.MemoryVersions{}},
	{"conversation list", client.ConversationPage{}},
	{"conversation show c", client.Conversation{}},
	{"conversation continue c", client.Continuity{}},
	{"envelope show " + hostileTask, client.Sheet{}},
	{"envelope render " + hostileTask, client.Sheet{}},
	{"parts " + hostileTask + " all", client.Parts{}},
	{"audit show " + hostileTask, client.Trail{}},
	{"token list --all", client.TokenList{}},
	{"route " + hostileTask, client.Decision{}},
	{"policy show", admin.Policy{}},
}

func TestNoTextOfOthersHidesOrPosesAsALineOfACommand(t *testing.T) {
	for _, x := range shownBy {
		for _, how := range []string{"", " --json", " --quiet"} {
			if how != "" && (!slowStories || strings.Contains(x.args, "--quiet")) {
				continue
			}
			out := shown(t, x.args+how, x.answer, hostileText)
			for _, r := range out {
				if visible.Hidden(r) && r != '\n' {
					t.Errorf("trapeze %s%s prints %U:\n%q", x.args, how, r, out)
					break
				}
			}
			for line := range strings.Lines(out) {
				if how == "" && !documents[reflect.TypeOf(x.answer)] && impostor.MatchString(line) {
					t.Errorf("trapeze %s prints text of others as a line of its own: %q", x.args, line)
				}
			}
		}
	}
}

// documents are answers with a document, in which the server has fenced the text of others, or which an operator wrote.
var documents = map[reflect.Type]bool{
	reflect.TypeFor[client.Accepted](): true, reflect.TypeFor[client.Sheet](): true, reflect.TypeFor[client.Parts](): true,
	reflect.TypeFor[admin.Policy](): true,
}

// impostor matches the lines of hostileText that look like ours.
var impostor = regexp.MustCompile(`^(hint: run|  hint: run|trapeze: run|owner  root|TASK  STATE)`)

// shown is what a command prints if each text of the server's answer is value.
func shown(t *testing.T, args string, answer any, value string) string {
	t.Helper()
	return shownOn(t, args, answer, value, false)
}

// shownOn is shown on a terminal, or not.
func shownOn(t *testing.T, args string, answer any, value string, terminal bool) string {
	t.Helper()
	v := reflect.New(reflect.TypeOf(answer)).Elem()
	filled(value).Fill(v)
	body, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	defer srv.Close()
	var out bytes.Buffer
	cli.Main(t.Context(), append([]string{"--url", srv.URL, "--token", "t"}, strings.Fields(args)...), cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Terminal: terminal,
	})
	if out.Len() == 0 {
		t.Errorf("trapeze %s prints nothing", args)
	}
	return out.String()
}

// filled fills a value with a text, in the states in which most is shown.
func filled(text string) *visibletest.Filler {
	return &visibletest.Filler{Text: text, Time: time.Now(), Done: open, Leaf: func(v reflect.Value) bool {
		if v.Type() != reflect.TypeFor[client.State]() {
			return false
		}
		v.Set(reflect.ValueOf(client.Parked))
		return true
	}}
}

// open makes an inbox item a notice, and a ticket an open one: then there is more to do next.
func open(v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case *client.Item:
		p.Type, p.Epoch = "completed", 0
	case *client.Ticket:
		p.State, p.Kind = "open", "approval"
	case *client.MemoryItem:
		p.Pinned, p.Forgotten = false, time.Time{}
	case *client.Task:
		p.Spent.Tokens, p.Reserved.Tokens, p.Spent.Cost = 9, 9, 9
	}
}

func TestNoAnswerOfAServerNamesAFileOfTheCaller(t *testing.T) {
	root := t.TempDir()
	data, keys := filepath.Join(root, "data"), filepath.Join(root, "keys")
	if err := os.MkdirAll(filepath.Join(data, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, []byte("1 x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	defer srv.Close()
	const task, owner = "../../../../../keys", "x\nssh-ed25519 KEY"
	for _, args := range [][]string{
		{"task", "start", hostileTask},
		{"task", "create", "x"},
		{"task", "show", hostileTask},
		{"task", "progress", hostileTask, "x"},
		{"accept", hostileTask + ".h1"},
		{"takeover", hostileTask},
		{"send", hostileTask, "--to", "ann"},
		{"ticket", "claim", hostileTask + ".k1"},
		{"do", "take over from ann", "--yes"},
	} {
		answer := map[string]any{"task": task, "id": task, "owner": owner, "epoch": 1, "stage": "transferred"}
		answer["receipt"], answer["understood"] = map[string]any{"task": task, "owner": owner, "epoch": 1}, map[string]any{"intent": "takeover"}
		var err error
		if body, err = json.Marshal(answer); err != nil {
			t.Fatal(err)
		}
		cli.Main(t.Context(), append([]string{"--url", srv.URL, "--data-dir", data, "--token", "t"}, args...), cli.Env{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" },
		})
		if got, err := os.ReadFile(keys); err != nil || string(got) != "1 x\n" {
			t.Errorf("after trapeze %q: %q, %v", args, got, err)
		}
	}
	if list, err := filepath.Glob(filepath.Join(data, "agents", "*", "*", "*", "*")); err != nil || len(list) > 0 {
		t.Errorf("kept: %q, %v", list, err)
	}
}
