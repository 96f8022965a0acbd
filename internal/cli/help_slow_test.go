//go:build slow

package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestANumberThatIsNoneIsRefusedInPlainWordsForEveryFlag(t *testing.T) {
	var walk func([]string, *cobra.Command)
	walk = func(path []string, cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(append(slices.Clone(path), c.Name()), c)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if kind := f.Value.Type(); !strings.HasPrefix(kind, "int") && !strings.HasPrefix(kind, "uint") && !strings.HasPrefix(kind, "float") {
				return
			}
			var log bytes.Buffer
			code := Main(t.Context(), append(slices.Clone(path), "--"+f.Name, "2k"), Env{Stdout: io.Discard, Stderr: &log, Getenv: func(string) string { return "" }})
			if want := `"2k" is no value of --` + f.Name + ", which takes a "; code != 2 || !strings.Contains(log.String(), want) {
				t.Errorf("%q --%s 2k: exit code %d, %s", path, f.Name, code, log.String())
			}
		})
	}
	walk(nil, newCommands(Env{}).root())
}
