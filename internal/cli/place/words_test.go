package place

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// What is printed is taken as it stands, and is the same node.
func TestTheFlagsOfANodeCanBePasted(t *testing.T) {
	want := Node{Cluster: "try", Name: "n1", Addr: "a.example.org:6222", Join: []string{"a.example.org:6222", "b.example.org:6222"}, Cert: "node.pem", Key: "my.key", CA: "ca.pem"}
	var p Place
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	p.NodeFlags(flags)
	if err := flags.Parse(strings.Fields(want.Words())); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(p.Node, want) {
		t.Errorf("%s: %+v", want.Words(), p.Node)
	}
	if got := (Node{Cluster: "try", CA: "our ca.pem"}).Words(); got != " --cluster-name try --cluster-ca 'our ca.pem'" {
		t.Errorf("%s", got)
	}
}
