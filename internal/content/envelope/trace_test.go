package envelope_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

func TestTraceContextIsReadAsTheRecommendationSays(t *testing.T) {
	const (
		trace  = "0af7651916cd43dd8448eb211c80319c"
		span   = "b7ad6b7169203331"
		parent = "00-" + trace + "-" + span + "-01"
	)
	for name, c := range map[string]struct {
		parent, state string
		want          envelope.Trace
	}{
		"none":                      {},
		"a parent":                  {parent, "", envelope.Trace{Parent: parent}},
		"a parent and a state":      {parent, "a=1,b=2", envelope.Trace{Parent: parent, State: "a=1,b=2"}},
		"white space around them":   {" " + parent + "\t", " a=1 ", envelope.Trace{Parent: parent, State: "a=1"}},
		"a state alone":             {"", "a=1", envelope.Trace{}},
		"a malformed parent":        {"00-x-y-01", "a=1", envelope.Trace{}},
		"upper case":                {strings.ToUpper(parent), "a=1", envelope.Trace{}},
		"a trace id of zeros":       {"00-" + strings.Repeat("0", 32) + "-" + span + "-01", "", envelope.Trace{}},
		"a span id of zeros":        {"00-" + trace + "-" + strings.Repeat("0", 16) + "-01", "", envelope.Trace{}},
		"the version ff":            {"ff" + parent[2:], "", envelope.Trace{}},
		"version 00 with more":      {parent + "-more", "", envelope.Trace{}},
		"a later version":           {"cc" + parent[2:], "", envelope.Trace{Parent: parent}},
		"a later version with more": {"cc" + parent[2:] + "-more", "", envelope.Trace{Parent: parent}},
		"a later version cut off":   {"cc" + parent[2:] + "more", "", envelope.Trace{}},
		"a state that is too long":  {parent, "a=" + strings.Repeat("x", 600), envelope.Trace{Parent: parent}},
		"a state that is no ASCII":  {parent, "a=\x01", envelope.Trace{Parent: parent}},
	} {
		if got := envelope.ParseTrace(c.parent, c.state); got.Parent != c.want.Parent || got.State != c.want.State {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
