package shell

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// none is how the command line says that a list of what is allowed is empty, which is not the same as no list.
const none = "none"

// AllowedFlag defines a repeatable flag that lists what is allowed. Without it the list is nil: no restriction. None, alone, makes it empty: nothing is allowed.
func AllowedFlag(f *pflag.FlagSet, list *[]string, name, usage string) {
	f.Var((*allowed)(list), name, usage)
}

type allowed []string

// String implements [pflag.Value].
func (a *allowed) String() string {
	if *a != nil && len(*a) == 0 {
		return none
	}
	return strings.Join(*a, ",")
}

// Set implements [pflag.Value].
func (a *allowed) Set(s string) error {
	names := strings.Split(s, ",")
	if slices.Contains(names, "") {
		return errors.New("a value is empty; use none to allow nothing, or omit the flag to restrict nothing")
	}
	if s == none && *a == nil {
		*a = allowed{}
		return nil
	}
	if slices.Contains(names, none) || *a != nil && len(*a) == 0 {
		return errors.New("none means that nothing is allowed; use it alone, or omit it")
	}
	*a = append(*a, names...)
	return nil
}

func (*allowed) Type() string { return "strings" }
