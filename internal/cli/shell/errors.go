package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/cli/advice"
	"github.com/trapezehq/trapeze/internal/cli/suggest"
	"github.com/trapezehq/trapeze/internal/cli/usage"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitRefused     = 4
	exitPermission  = 5
	exitUnavailable = 6
)

// exits is the table of exit codes: the meaning of each, and its refusal codes.
var exits = []struct {
	code    int
	meaning string
	of      []refusal.Code
}{
	{exitOK, "done", nil},
	{exitFailure, "an error in the command line, or one without a code", nil},
	{exitUsage, "the command or its input is invalid", []refusal.Code{refusal.Invalid, refusal.TooLarge}},
	{exitNotFound, "not found, or not visible to you", []refusal.Code{refusal.NotFound}},
	{exitRefused, "not allowed by the rules or in the current state", []refusal.Code{
		refusal.Conflict, refusal.StaleEpoch, refusal.NotOwner, refusal.Limit, refusal.Budget, refusal.Expired,
	}},
	{exitPermission, "no credential, or no permission", []refusal.Code{refusal.Unauthenticated, refusal.NotPermitted}},
	{exitUnavailable, "not available now: try again; after unknown, check first whether the change was made", []refusal.Code{
		refusal.Unavailable, refusal.Overloaded, refusal.CircuitOpen, refusal.Unknown,
	}},
}

// ExitCode is the process's exit code for an error; 0 for none.
func ExitCode(err error) int {
	if err == nil {
		return exitOK
	}
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if r, ok := refused(err); ok {
		for _, e := range exits {
			if slices.Contains(e.of, r.Code) {
				return e.code
			}
		}
	}
	return exitFailure
}

// usageError is a mistake in how a command was used.
type usageError struct{ error }

func (usageError) ExitCode() int   { return exitUsage }
func (e usageError) Unwrap() error { return e.error }

// Usage marks an error as a mistake in how a command was used: the exit code is 2.
func Usage(err error) error { return usageError{err} }

// Usagef is Usage with a formatted message.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// hinted is an error with a hint: what to do next.
type hinted struct {
	error
	hint string
}

// Hinted adds a hint to an error: what to do next.
func Hinted(err error, hint string) error { return hinted{err, hint} }

func (e hinted) Unwrap() error { return e.error }

// codeFailed is the code in JSON of an error without a code.
const codeFailed refusal.Code = "failed"

// PrintError prints an error and its hint to standard error.
func (s *Shell) PrintError(err error) {
	if errors.Is(err, context.Canceled) {
		err = hinted{errors.New("interrupted"), ""}
	}
	var away *url.Error
	if errors.As(err, &away) {
		err = cmp.Or(s.noServer(), err)
	}
	e := refusal.Error{Message: err.Error()}
	if r, ok := refused(err); ok {
		e = *r
	}
	var h hinted
	if errors.As(err, &h) {
		e.Hint, e.Helps = h.hint, nil
	}
	var usage usageError
	if errors.As(err, &usage) {
		if e.Code == "" {
			e.Code = refusal.Invalid
		}
		if e.Hint == "" {
			e.Hint = "trapeze help lists the commands"
		}
	}
	if e.Code == refusal.Unauthenticated && s.kept != "" {
		e.Hint, e.Helps = advice.Renew(s.kept), nil
	}
	if e.Code == refusal.StaleEpoch && s.moved != "" {
		e.Hint, e.Helps = s.moved, nil
	}
	e.Hint = s.paste(advice.Of(e.Hint, e.Helps))
	if s.Flags.JSON {
		if e.Code == "" {
			e.Code = codeFailed
		}
		b, err := safeJSON(struct {
			Error refusal.Error `json:"error"`
		}{e}, "")
		if err == nil {
			_, _ = s.Stderr.Write(b) // the reader may be gone
			return
		}
	}
	text := further.Replace(visible.Document(e.Message))
	if e.Code != "" {
		text = OneLine(string(e.Code)) + ": " + text
	}
	fmt.Fprintln(s.Stderr, "trapeze: "+text)
	if e.Hint != "" {
		fmt.Fprintln(s.Stderr, "  hint: "+OneLine(e.Hint))
	}
}

// further indents the lines of a message after its first, so that text of others in it looks like no line of the command.
var further = strings.NewReplacer("\n", "\n    ")

// CommandError classifies the error of a command line: one from before the command ran is a mistake in how it was used.
func (s *Shell) CommandError(cmd *cobra.Command, err error) error {
	if s.ran || isRefusal(err) {
		return err
	}
	rest := suggest.Rest(cmd, s.Args)
	if usage.Unknown(err) && cmd.HasSubCommands() && len(rest) > 0 { // the flag is that of a command that there is not
		return withUsage(cmd, Usage(noSuchCommand(cmd, rest)))
	}
	text, hint := usage.Explain(cmd, err)
	switch {
	case text == "":
		err = Usage(err)
	case hint == "":
		err = Usagef("%s", text)
	default:
		return Hinted(Usagef("%s", text), hint)
	}
	return withUsage(cmd, err)
}

// withUsage adds how the command is used to a mistake in that which has no hint.
func withUsage(cmd *cobra.Command, err error) error {
	var h hinted
	var usage usageError
	e, ok := refused(err)
	hasHint := errors.As(err, &h) || ok && e.Hint != ""
	if errors.As(err, &usage) && !hasHint && !cmd.HasSubCommands() {
		err = Hinted(err, "usage: "+cmd.UseLine()+"; see --help")
	}
	return err
}

func isRefusal(err error) bool {
	_, ok := refused(err)
	return ok
}

func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("The exit codes of all commands:\n\n")
	for _, e := range exits {
		fmt.Fprintf(&b, "  %d  %s\n", e.code, e.meaning)
		if len(e.of) > 0 {
			of := make([]string, len(e.of))
			for i, c := range e.of {
				of[i] = string(c)
			}
			fmt.Fprintf(&b, "     (%s)\n", strings.Join(of, ", "))
		}
	}
	b.WriteString("\nErrors are printed to standard error as \"trapeze: code: message\" with a hint; with --json as {\"error\": {code, message, hint}},\nwhere the code of an error without a code is \"failed\".")
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: b.String()}
}
