package mcpapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

// move has closed sets of the client: all of one, one without two values, and one in a description.
type move struct {
	Kind   client.Kind   `json:"kind"`
	Reason client.Reason `json:"reason,omitempty" except:"recovery,load_shedding"`
	Must   string        `json:"must,omitempty" jsonschema:"KIND:TEXT; KIND: {constraint kinds}"`
}

func TestTheValuesOfAFieldAreThoseOfTheClientsClosedSet(t *testing.T) {
	var s struct {
		Properties map[string]struct {
			Enum        []string
			Description string
		}
	}
	if err := json.Unmarshal(argument.Schema[move](true), &s); err != nil {
		t.Fatal(err)
	}
	var kinds, reasons, constraints []string
	for _, v := range client.Kinds() {
		kinds = append(kinds, string(v))
	}
	for _, v := range client.Reasons() {
		if v != client.ReasonRecovery && v != client.ReasonLoadShedding {
			reasons = append(reasons, string(v))
		}
	}
	for _, v := range client.ConstraintKinds() {
		constraints = append(constraints, string(v))
	}
	if got := s.Properties["kind"].Enum; !slices.Equal(got, kinds) {
		t.Errorf("kinds: %v", got)
	}
	if got := s.Properties["reason"].Enum; !slices.Equal(got, append([]string{"default"}, reasons...)) {
		t.Errorf("reasons: %v", got)
	}
	if got := s.Properties["must"].Description; got != "KIND:TEXT; KIND: "+strings.Join(constraints, ", ") {
		t.Errorf("description: %s", got)
	}
	for args, want := range map[string]string{
		`{}`:                                    "move needs kind: " + strings.Join(kinds, ", "),
		`{"kind":"hot"}`:                        `kind is "hot"; use one of: ` + strings.Join(kinds, ", "),
		`{"kind":"warm","reason":"recovery"}`:   `reason is "recovery"; use one of: ` + strings.Join(reasons, ", "),
		`{"kind":"warm","reason":"escalation"}`: "",
		`{"kind":"warm","reason":"Default"}`:    "",
		`{"kind":"default"}`:                    `kind is "default"; use one of: ` + strings.Join(kinds, ", "),
	} {
		_, err := argument.Decode[move]("move", json.RawMessage(args), false, argument.Server{Now: never})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
