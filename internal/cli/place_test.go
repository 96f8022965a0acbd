package cli_test

import (
	"reflect"
	"testing"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/internal/cli/place"
)

// A command that gets the flags of another has the same node.
func TestTheFlagsOfANodeAreThoseThatWereGiven(t *testing.T) {
	for _, want := range []place.Node{
		{Cluster: "try", Addr: "127.0.0.1:6222"},
		{Cluster: "try", Name: "n1", Addr: "a.example.org:6222", Join: []string{"a.example.org:6222", "b.example.org:6222"}, Cert: "node.pem", Key: "my key", CA: "ca.pem"},
	} {
		var p place.Place
		flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
		p.NodeFlags(flags)
		if err := flags.Parse(want.Args()); err != nil {
			t.Fatal(err)
		}
		if len(p.Node.Join) == 0 {
			p.Node.Join = nil
		}
		if !reflect.DeepEqual(p.Node, want) {
			t.Errorf("%q: %+v", want.Args(), p.Node)
		}
	}
}
