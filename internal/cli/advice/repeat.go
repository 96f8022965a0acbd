package advice

import (
	"regexp"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Flag is a flag that was given to the command that runs.
type Flag struct {
	Name, Value string
	Acts        bool // it says who acts: operators' commands do not take it over
}

// program is the name of the program with what may be the words of a command.
var program = regexp.MustCompile(`\btrapeze((?: [a-z][a-z-]*)+)`)

// others are those for whom the commands in a sentence are.
var others = regexp.MustCompile(`(?:\boperators?|\bthe sender|(?:^|[^u ] |[^a-z ])[Hh]ave \S+)\b[^;]*$`)

// operators are the commands that the owner or an operator runs, and those for which an agent is not who acts.
var operators = map[string]bool{
	"agent": true, "alerts": true, "backup": true, "bench": true, "cluster": true, "completion": true, "dead": true, "demo": true, "doctor": true, "erase": true, "help": true,
	"hold": true, "init": true, "login": true, "logout": true, "mcp": true, "policy": true, "put-away": true, "restore": true, "serve": true, "stop": true, "token": true,
	"verify": true, "version": true, "web": true, "witness": true, "work": true, "workspace": true,
}

// Repeat adds flags to the commands in a text, after the words of each, so that who pastes it acts as who reads it. A command that has a flag keeps its own. known is
// how many of the words are a command.
func Repeat(text string, flags []Flag, known func(words []string) int) string {
	var b strings.Builder
	for {
		at := program.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text
		}
		words := strings.Fields(text[at[2]:at[3]])
		n := known(words)
		end := at[2] + len(" "+strings.Join(words[:n], " "))
		if n == 0 {
			end = at[2]
		}
		forOthers := others.MatchString(b.String()+text[:at[0]]) || strings.HasPrefix(text[end:], ",") // or a list of names
		b.WriteString(text[:end])
		rest := text[end:]
		own := rest
		if next := program.FindStringIndex(rest); next != nil {
			own = rest[:next[0]]
		}
		for _, f := range flags {
			if n > 0 && !forOthers && f.Value != "" && !strings.Contains(own, f.Name+" ") && (!f.Acts || !operators[words[0]]) && words[0] != "help" {
				b.WriteString(" " + f.Name + " " + shellword.Quote(f.Value))
			}
		}
		text = rest
	}
}
