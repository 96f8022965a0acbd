package usage

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/internal/cli/suggest"
)

var (
	unknownFlag = regexp.MustCompile(`^unknown flag: --(\S+)$`)
	oneDash     = regexp.MustCompile(`^unknown shorthand flag: '.' in -([a-z-]{2,})$`)
	noChoice    = regexp.MustCompile(`^invalid argument (".*") for "(?:-., )?--([a-z-]+)" flag: use (.*)$`)
	noNumber    = regexp.MustCompile(`^invalid argument (".*") for "(?:-., )?--([a-z-]+)" flag: strconv\.(?:Parse(Int|Uint|Float)|Atoi): .*: (invalid syntax|value out of range)$`)
	noValue     = regexp.MustCompile(`(?s)^invalid argument ".*?" for "(?:-., )?--([a-z-]+)" flag: (.*)$`)
	notSet      = regexp.MustCompile(`^required flag\(s\) (".*") not set$`)
	wrongNumber = regexp.MustCompile(`^(?:accepts|requires) .*args?\(s\), (?:only )?received (\d+)$`)
	oneOnly     = regexp.MustCompile(`^if any flags in the group .*; \[(.*)\] were all set$`)
	placeholder = regexp.MustCompile(`\[?\b[A-Z][A-Z0-9_:-]*\b\]?(?:\.\.\.|…)?`)
	flagOfUse   = regexp.MustCompile(`--[a-z-]+ [A-Z]+`)
)

// Unknown reports whether an error of the flags is that there is no such flag.
func Unknown(err error) bool { return unknownFlag.MatchString(err.Error()) }

// Explain says what is wrong with flags and arguments where cobra only counts, and what to do if there is more to say. Without a text, the error itself says
// it best.
func Explain(cmd *cobra.Command, err error) (text, hint string) {
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		text = "there is no flag --" + m[1]
		if near := suggest.Flags(cmd, m[1]); len(near) > 0 {
			text += "; did you mean --" + strings.Join(near, " or --") + "?"
		}
		return text, ""
	}
	if m := oneDash.FindStringSubmatch(err.Error()); len(m) == 2 && cmd.Flags().Lookup(m[1]) != nil {
		return fmt.Sprintf("there is no flag -%s; did you mean --%[1]s?", m[1]), ""
	}
	if m := noChoice.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Sprintf("%s is no value of --%s", m[1], m[2]), "use --" + m[2] + " " + m[3]
	}
	if m := noNumber.FindStringSubmatch(err.Error()); m != nil {
		switch kind, why := m[3], m[4]; {
		case why == "value out of range" && kind != "Float":
			return fmt.Sprintf("%s is out of range for --%s, which takes whole numbers", m[1], m[2]), ""
		case kind == "Float":
			return fmt.Sprintf("%s is no value of --%s, which takes a number in digits, such as 0.8", m[1], m[2]), ""
		}
		return fmt.Sprintf("%s is no value of --%s, which takes a whole number in digits, such as 2000", m[1], m[2]), ""
	}
	if m := noValue.FindStringSubmatch(err.Error()); m != nil {
		return "--" + m[1] + ": " + m[2], ""
	}
	if m := notSet.FindStringSubmatch(err.Error()); m != nil {
		return "--" + strings.ReplaceAll(strings.ReplaceAll(m[1], `", "`, " and --"), `"`, "") + " is missing", ""
	}
	if m := oneOnly.FindStringSubmatch(err.Error()); m != nil {
		return "use one of --" + strings.ReplaceAll(m[1], " ", " and --") + ", not both", ""
	}
	m := wrongNumber.FindStringSubmatch(err.Error())
	if m == nil {
		return "", ""
	}
	var given int
	fmt.Sscan(m[1], &given) //nolint:errcheck // it is a number
	var required, all []string
	for _, p := range Placeholders(cmd) {
		all = append(all, p)
		if !strings.HasPrefix(p, "[") && !strings.HasSuffix(p, "…") {
			required = append(required, p)
		}
	}
	switch {
	case given < len(required):
		missing := required[given:]
		if len(missing) == 1 {
			return fmt.Sprintf("%s is missing", missing[0]), ""
		}
		if strings.Contains(cmd.Use, strings.Join(missing, "|")) {
			return strings.Join(missing, " or ") + " is missing", ""
		}
		return fmt.Sprintf("%s are missing", strings.Join(missing, " and ")), ""
	case apart(cmd) != "":
		return fmt.Sprintf(waitApart, apart(cmd)), ""
	case len(all) == 0:
		return fmt.Sprintf("%s takes no arguments", cmd.CommandPath()), ""
	}
	return fmt.Sprintf("%s takes %s, but was given %d arguments; put a text of several words in quotes", cmd.CommandPath(), strings.Join(all, " and "), given), ""
}

// waitApart is the refusal of a time that is written apart from --wait.
const waitApart = "a time to wait is written with the flag: --wait=%s"

// CheckWait refuses a time that is written apart from --wait, which would be another argument.
func CheckWait(cmd *cobra.Command) (text string) {
	if wait := apart(cmd); wait != "" {
		return fmt.Sprintf(waitApart, wait)
	}
	return ""
}

// apart returns the argument that is the time of --wait, if it was written apart from the flag.
func apart(cmd *cobra.Command) string {
	if f := cmd.Flags().Lookup("wait"); f == nil || !f.Changed {
		return ""
	}
	for _, arg := range cmd.Flags().Args() {
		if _, err := time.ParseDuration(arg); err == nil {
			return arg
		}
	}
	return ""
}

// Placeholders are the arguments in the usage line of a command, such as NAME, or [TASK] if it may be omitted.
func Placeholders(cmd *cobra.Command) []string {
	return placeholder.FindAllString(flagOfUse.ReplaceAllString(cmd.Use, ""), -1)
}

// names are the placeholders of arguments that cannot be empty.
var names = []string{"INTENT", "NAME", "AGENT", "TASK", "HANDOFF", "ID", "TICKET", "DIGEST"}

// namingFlags are the flags of one text that name who or what a command is about. Given as empty text, as a variable of the shell that is not set, they would
// count as omitted.
var namingFlags = []string{"agent", "approver", "channel", "conversation", "desk", "from", "handoff", "owner", "requester", "task", "then", "to"}

// empty reports whether a flag was given an empty text where it takes names, or one in its list.
func empty(f *pflag.Flag) bool {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values := list.GetSlice()
		given, watched := f.Value.(*givenList)
		return watched && given.empty || len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" })
	}
	return slices.Contains(namingFlags, f.Name) && strings.TrimSpace(f.Value.String()) == ""
}

// givenList is the value of a flag that takes a list. An empty text adds nothing to some lists: empty says that one was given.
type givenList struct {
	pflag.Value
	pflag.SliceValue
	empty bool
}

// Set implements [pflag.Value].
func (l *givenList) Set(text string) error {
	l.empty = l.empty || strings.TrimSpace(text) == ""
	return l.Value.Set(text)
}

// WatchLists makes the lists among the flags of a command and of those below it remember that an empty text was given.
func WatchLists(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			f.Value = &givenList{Value: f.Value, SliceValue: list}
		}
	})
	for _, c := range cmd.Commands() {
		WatchLists(c)
	}
}

// CheckTexts refuses arguments and flags that are not UTF-8, which JSON cannot carry, and names and ids that are empty.
func CheckTexts(cmd *cobra.Command, args []string) (text string) {
	of := Placeholders(cmd)
	for i, arg := range args {
		if arg == "" && len(args) == len(of) && slices.Contains(names, strings.Trim(of[i], "[]")) {
			return fmt.Sprintf("%s is empty", strings.Trim(of[i], "[]"))
		}
		if !utf8.ValidString(arg) {
			return fmt.Sprintf("the argument %q is not valid UTF-8", arg)
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if empty(f) {
			text = fmt.Sprintf("--%s is empty: give it a value, or omit it; a variable of the shell may not be set", f.Name)
		}
		if !utf8.ValidString(f.Value.String()) {
			text = fmt.Sprintf("--%s is not valid UTF-8: %q", f.Name, f.Value.String())
		}
	})
	return text
}
