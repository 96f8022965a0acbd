package cli

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestAServerInTheBackgroundHasEverySetting(t *testing.T) {
	var conf ServeConfig
	var cmd cobra.Command
	serveFlags(&cmd, &conf)
	other := map[string][]string{"bool": {"true"}, "int": {"7"}, "int64": {"7"}, "string": {"/a b"}, "stringSlice": {"a", "b"}, "stringArray": {"a,b", "c"}}
	var want []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values := other[f.Value.Type()]
		if choices := f.Annotations["trapeze_choices"]; choices != nil {
			values = choices[len(choices)-1:]
		}
		for _, v := range values {
			if err := cmd.Flags().Set(f.Name, v); err != nil {
				t.Fatal(err)
			}
			if f.Name != "addr" { // which daemon chooses
				want = append(want, "--"+f.Name+"="+v)
			}
		}
	})
	if len(want) < 15 {
		t.Fatalf("only %d values", len(want))
	}
	if got := settings(cmd.Flags()); !slices.Equal(got, want) {
		t.Errorf("got  %q,\nwant %q", got, want)
	}
	var again cobra.Command
	serveFlags(&again, &ServeConfig{})
	if err := again.ParseFlags(settings(cmd.Flags())); err != nil {
		t.Error(err)
	}
}
