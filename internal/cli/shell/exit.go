package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
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

// exits is the one table of exit codes: what each means, and the refusals that end with it.
var exits = []struct {
	code    int
	meaning string
	of      []refusal.Code
}{
	{exitOK, "done", nil},
	{exitFailure, "something went wrong here, or in a way that has no code of its own", nil},
	{exitUsage, "the command or what it sends is malformed", []refusal.Code{refusal.Invalid, refusal.TooLarge}},
	{exitNotFound, "no such thing, or none that you may see", []refusal.Code{refusal.NotFound}},
	{exitRefused, "the rules or the present state do not allow it", []refusal.Code{
		refusal.Conflict, refusal.StaleEpoch, refusal.NotOwner, refusal.Limit, refusal.Budget, refusal.Expired,
	}},
	{exitPermission, "no credential, or one that may not do this", []refusal.Code{refusal.Unauthenticated, refusal.NotPermitted}},
	{exitUnavailable, "nobody can serve this now: try again; after unknown, look first whether it happened", []refusal.Code{
		refusal.Unavailable, refusal.CircuitOpen, refusal.Unknown,
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
			for _, c := range e.of {
				if c == r.Code {
					return e.code
				}
			}
		}
	}
	return exitFailure
}

// usageError is a command that was not understood.
type usageError struct{ error }

func (usageError) ExitCode() int   { return exitUsage }
func (e usageError) Unwrap() error { return e.error }

// Usage makes an error the mistake of whoever typed the command.
func Usage(err error) error { return usageError{err} }

// Usagef is Usage in words.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// hinted is an error that says what to do next.
type hinted struct {
	error
	hint string
}

// Hinted adds to an error what to do next.
func Hinted(err error, hint string) error { return hinted{err, hint} }

func (e hinted) Unwrap() error { return e.error }

// codeFailed stands in JSON for an error that has no code of its own.
const codeFailed refusal.Code = "failed"

// typed are the server's hints as a person would type what they say.
var typed = map[string]string{
	"add the agent first": "add the agent first: trapeze agent add NAME",
	"name an agent":       "name an agent: --to NAME",
	"name an agent, or human:operators to ask people":                                           "name an agent with --to NAME, or ask people with --to human:operators",
	"name an agent, or human:operators to ask people again":                                     "name an agent with --to NAME, or ask people again with --to human:operators",
	"list the channels to see which there are":                                                  "trapeze channel list shows which there are; make one with trapeze channel create NAME",
	"list the agents to see who there is":                                                       "trapeze agent list shows who there is",
	"hand it off to an agent instead":                                                           "hand it off to an agent instead, or act as one with --agent NAME",
	"it can start when they have completed; put a route on the task to have it start by itself": "it can start when they have completed; create it with --after and --route NAME, without --send or more about the sending, and it goes off by itself",
	"/openapi.json describes what this call takes":                                              "--help says what the command takes",
	"use a loopback name or an IP address, or configure the server with this name":              "use a loopback name or an IP address, or start the server with --host and this name",
	"name an agent, a capability or a channel":                                                  "name an agent with --to NAME, a capability with --capability NAME, or a channel with --channel NAME",
	"name an agent, a list of agents or a capability":                                           "name agents with --to NAME, or a capability with --capability NAME",
}

// Complain prints what went wrong and what to do next.
func (s *Shell) Complain(err error) {
	if errors.Is(err, context.Canceled) {
		err = hinted{errors.New("interrupted"), ""}
	}
	told := refusal.Error{Message: err.Error()}
	if r, ok := refused(err); ok {
		told = *r
	}
	var h hinted
	if errors.As(err, &h) {
		told.Hint = h.hint
	}
	var usage usageError
	if errors.As(err, &usage) {
		if told.Code == "" {
			told.Code = refusal.Invalid
		}
		if told.Hint == "" {
			told.Hint = "--help says how a command is used"
		}
	}
	if told.Code == refusal.Unauthenticated && s.kept != "" {
		told.Hint = "the token in " + s.kept + " no longer counts; remove the file to have a new one made"
	}
	if more := typed[told.Hint]; more != "" {
		told.Hint = more
	}
	if s.Flags.JSON {
		if told.Code == "" {
			told.Code = codeFailed
		}
		b, err := json.Marshal(struct {
			Error refusal.Error `json:"error"`
		}{told})
		if err == nil {
			fmt.Fprintln(s.Stderr, string(b))
			return
		}
	}
	text := visible(told.Message, true)
	if told.Code != "" {
		text = OneLine(string(told.Code)) + ": " + text
	}
	fmt.Fprintln(s.Stderr, "trapeze: "+text)
	if told.Hint != "" {
		fmt.Fprintln(s.Stderr, "  hint: "+visible(told.Hint, true))
	}
}

// Fault is the error of a command line, told as what it is: one that did not get as far as the work of its command was
// not understood.
func (s *Shell) Fault(cmd *cobra.Command, err error) error {
	if s.ran || isRefusal(err) {
		return err
	}
	err = Usage(err)
	var told hinted
	if !cmd.HasSubCommands() && !errors.As(err, &told) {
		err = Hinted(err, "usage: "+cmd.UseLine()+"; --help says more")
	}
	return err
}

func isRefusal(err error) bool {
	_, ok := refused(err)
	return ok
}

func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("What a command's exit code says:\n\n")
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
	b.WriteString("\nErrors go to standard error as \"trapeze: code: message\" and a hint; with --json as {\"error\": {code, message, hint}},\nwhere an error that has no code of its own has \"failed\".")
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: b.String()}
}
