package cli_test

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// checked is what trapeze doctor --json prints.
type checked struct {
	Findings []struct{ Check, State, Message, Fix string }
	Wrong    int
}

func doctor(ts *testscript.TestScript, args []string) (found checked) {
	_ = ts.Exec("trapeze", append([]string{"doctor", "--json"}, args...)...) // the exit code says that there are problems
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &found))
	return found
}

// pasted is the command "pasted TEXT [FLAG…]": trapeze doctor with the flags must find one problem whose message has the text, and the command at the end of its fix,
// run by a shell, must solve it, and cause no other.
func pasted(ts *testscript.TestScript, _ bool, args []string) {
	before := doctor(ts, args[1:])
	fix, known := "", map[string]bool{}
	for _, f := range before.Findings {
		if known[f.Message] = true; f.State == "fix" && strings.Contains(f.Message, args[0]) {
			fix = f.Fix
		}
	}
	if fix == "" {
		ts.Fatalf("%q is not found: %+v", args[0], before)
	}
	at := strings.LastIndex(fix, ": ") + 1
	command := strings.TrimSpace(fix[max(0, at):])
	if name, is := strings.CutPrefix(command, "unset "); is {
		ts.Setenv(name, "")
	} else {
		ts.Logf("pasted: %s", command)
		ts.Check(ts.Exec("sh", "-c", "yes | { "+command+"; }"))
	}
	after := doctor(ts, args[1:])
	for _, f := range after.Findings {
		if strings.Contains(f.Message, args[0]) || f.State == "fix" && !known[f.Message] {
			ts.Fatalf("after %s: %s: %s", command, f.State, f.Message)
		}
	}
	if after.Wrong >= before.Wrong {
		ts.Fatalf("after %s there are still %d problems: %+v", command, after.Wrong, after)
	}
}

// acting are commands in an output by which an agent would act, except for those by which others decide.
var acting = regexp.MustCompile(`trapeze (?:accept|ask|artifact|cancel|complete|conversation|do|envelope|escalate|handoff|inbox|memory|reject|route|send|share|take|takeover|task|ticket (?:list|show|claim|release))\b`)

// acts is the command "acts NAME COMMAND…": it runs trapeze COMMAND… --agent NAME, and each command in what that prints must act as the same agent.
func acts(ts *testscript.TestScript, _ bool, args []string) {
	_ = ts.Exec("trapeze", append([]string{"--agent", args[0]}, args[1:]...)...) // refusals have hints
	for line := range strings.Lines(ts.ReadFile("stdout") + ts.ReadFile("stderr")) {
		for _, at := range acting.FindAllStringIndex(line, -1) {
			own := line[at[1]:]
			if next := strings.Index(own, "trapeze "); next >= 0 {
				own = own[:next]
			}
			if !strings.Contains(own, "--agent ") {
				ts.Fatalf("%s acts as nobody: %s", line[at[0]:at[1]], line)
			}
		}
	}
}
