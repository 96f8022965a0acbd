package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choices is the annotation that has the values of a flag which Choice defined.
const choices = "trapeze_choices"

// Choice defines a flag that takes one of a few values. The %s in its usage stands for the list of them, and CompleteChoices makes
// the user's shell complete them. Other values are refused; the empty one is as if the flag was not given.
func Choice[T ~string](f *pflag.FlagSet, p *string, name, value, usage string, values []T) {
	ChoiceOr(f, p, name, value, usage, values, "")
}

// ChoiceOr is Choice for a flag that also takes what begins with prefix, such as "quorum:"; empty: nothing else.
func ChoiceOr[T ~string](f *pflag.FlagSet, p *string, name, value, usage string, values []T, prefix string) {
	*p = value
	f.Var(&choice{p, texts(values), prefix}, name, fmt.Sprintf(usage, OneOf(values)))
	annotate(f, name, choices, texts(values)...)
}

// choice is the value of a flag that Choice defined.
type choice struct {
	value  *string
	values []string
	prefix string // of further values; empty: there are none
}

func (c *choice) String() string {
	if c.value == nil { // as pflag asks, to see whether a default is the zero value
		return ""
	}
	return *c.value
}

func (*choice) Type() string { return "string" }

func (c *choice) Set(text string) error {
	if text != "" && !slices.Contains(c.values, text) && (c.prefix == "" || !strings.HasPrefix(text, c.prefix)) {
		return fmt.Errorf("use %s", OneOf(c.values))
	}
	*c.value = text
	return nil
}

// Choices defines a repeatable flag as Choice does.
func Choices(f *pflag.FlagSet, p *[]string, name, usage string, values []string) {
	f.StringSliceVar(p, name, nil, fmt.Sprintf(usage, OneOf(values)))
	annotate(f, name, choices, values...)
}

// annotate sets an annotation of a flag that is defined.
func annotate(f *pflag.FlagSet, name, annotation string, values ...string) {
	if err := f.SetAnnotation(name, annotation, values); err != nil {
		panic(err)
	}
}

// OneOf lists values as a sentence has them: "a, b or c".
func OneOf[T ~string](values []T) string {
	list := texts(values)
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

func texts[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// CompleteChoices completes the values of the flags that Choice defined, for a command and all below it.
func CompleteChoices(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if list := f.Annotations[choices]; list != nil {
			if err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)); err != nil {
				panic(err) // the flag exists, and a command is visited once
			}
		}
	})
	for _, c := range cmd.Commands() {
		CompleteChoices(c)
	}
}

// none is how the command line says that a list of what is allowed is empty, which is not the same as no list.
const none = "none"

func isNone(s string) bool { return strings.EqualFold(s, none) }

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
	if isNone(s) && *a == nil {
		*a = allowed{}
		return nil
	}
	if slices.ContainsFunc(names, isNone) || *a != nil && len(*a) == 0 {
		return errors.New("none means that nothing is allowed; use it alone, or omit it")
	}
	*a = append(*a, names...)
	return nil
}

func (*allowed) Type() string { return "strings" }
