package client_test

import (
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestAConstraintIsWrittenInOneLine(t *testing.T) {
	for arg, want := range map[string]client.Constraint{
		"preference:short":           {Kind: "preference", Text: "short"},
		"prohibition!:never: really": {Kind: "prohibition", Text: "never: really", Hard: true},
		"id-1=security!: no keys":    {ID: "id-1", Kind: "security", Text: "no keys", Hard: true},
	} {
		got, err := client.ParseConstraint(arg)
		if want.ID == "" {
			want.ID = got.ID
		}
		if err != nil || got.ID == "" || got.Kind != want.Kind || got.Text != want.Text || got.Hard != want.Hard || got.ID != want.ID {
			t.Errorf("%q is %+v, %v", arg, got, err)
		}
		again, _ := client.ParseConstraint(arg)
		if again.ID != got.ID {
			t.Errorf("%q has the ids %s and %s", arg, got.ID, again.ID)
		}
	}
	for _, wrong := range []string{"", "be nice", "preference:", "preference: "} {
		if c, err := client.ParseConstraints([]string{"preference:short", wrong}); err == nil {
			t.Errorf("%q is %+v", wrong, c)
		}
	}
}
