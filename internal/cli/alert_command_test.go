package cli_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	kit "github.com/trapezehq/trapeze/trapezetest"
)

// quotedCommand is a command in what an alert says.
var quotedCommand = regexp.MustCompile("`trapeze ([^`]+)`")

// TestWhatAnAlertSaysToDoWorksForAnOperator: the command to begin with, and each that its text names, by an operator on another machine.
func TestWhatAnAlertSaysToDoWorksForAnOperator(t *testing.T) {
	t.Parallel()
	s := kit.Start(t)
	s.Agent("coder", kit.Accept(kit.Complete("done")))
	handoff := s.Run(s.Create(client.CreateInput{Intent: "work", Send: &client.SendInput{To: []string{"coder"}}})).Task.ID + ".h1"
	made, err := s.Admin().CreateToken(t.Context(), client.TokenInput{Role: client.RoleOperator, Name: "olga"})
	if err != nil {
		t.Fatal(err)
	}
	home, done := t.TempDir(), map[string]bool{}
	run := func(name, command string) {
		t.Helper()
		if done[command] {
			return
		}
		done[command] = true
		var log bytes.Buffer
		code := cli.Main(t.Context(), strings.Fields(command), cli.Env{
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &log,
			Getenv: func(key string) string {
				return map[string]string{"TRAPEZE_URL": s.URL(), "TRAPEZE_TOKEN": made.Text, "HOME": home}[key]
			},
		})
		if code != 0 {
			t.Errorf("%s: trapeze %s: exit code %d: %s", name, command, code, &log)
		}
	}
	elsewhere := regexp.MustCompile(`^(restore|serve|stop|verify)\b`) // on the machine of the server, which is another matter
	task, _, _ := strings.Cut(handoff, ".")
	fill := strings.NewReplacer("alerts show", "alerts show handoff-failed", "handoff show", "handoff show "+handoff, "agent show", "agent show coder", "agent reset", "agent reset coder",
		"agent drain", "agent drain coder", "envelope show", "envelope show "+handoff, "task show", "task show "+task, "drift", "drift "+task, "--of", "--of coder", "record.jsonl", home+"/record.jsonl",
		"--skip-damaged", "--skip-damaged -o "+home+"/all.jsonl")
	for _, d := range alert.Definitions() {
		for _, agent := range []string{"coder", ""} {
			for _, handoffs := range [][]string{{handoff}, nil} {
				run(d.Name, strings.ReplaceAll(strings.TrimPrefix(d.Command(agent, handoffs), "trapeze "), "record.jsonl", home+"/record.jsonl"))
			}
		}
		for _, m := range quotedCommand.FindAllStringSubmatch(d.Do(), -1) {
			if !elsewhere.MatchString(m[1]) {
				run(d.Name, fill.Replace(m[1]))
			}
		}
	}
}
