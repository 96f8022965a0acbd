package scenario_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/fetchcall"
	"github.com/trapezehq/trapeze/internal/content/foreign"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/cluster"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
)

// A pair is a closed set of the server and its copy in the client.
type pair struct {
	server, client string   // types, such as event.Kind and client.Kind; the client has no type for a set of plain texts
	values, copied []string // as the two list them
	without        []string // values that no client can meet
	fields         []string // of the client, of type string, whose comments name the values
}

func paired[S, C ~string](values []S, copied []C, fields ...string) pair {
	p := pair{server: reflect.TypeFor[S]().String(), client: reflect.TypeFor[C]().String(), values: asTexts(values), copied: asTexts(copied), fields: fields}
	if p.client == "string" {
		p.client = ""
	}
	return p
}

func (p pair) except(values ...string) pair {
	p.without = values
	return p
}

// pairs are all closed sets that a client meets.
var pairs = []pair{
	paired(cluster.Engines(), admin.Engines()), paired(cluster.States(), admin.NodeStates()),
	paired(refusal.Codes(), client.Codes()),
	paired(event.States.Values(), client.States()),
	paired(event.Stages.Values(), client.Stages()),
	paired(event.Kinds.Values(), client.Kinds()),
	paired(event.Reasons.Values(), client.Reasons()),
	paired(event.Rejections.Values(), client.Rejections()),
	paired(event.Priorities.Values(), client.Priorities()),
	paired(event.ConfirmModes.Values(), client.ConfirmModes()),
	paired(event.FanInModes.Values(), client.FanInModes()),
	paired(event.ConstraintKinds.Values(), client.ConstraintKinds()),
	paired(event.Tiers.Values(), client.Tiers(), "Candidate.Tier", "Weighed.Tier"),
	paired(event.ParkCauses.Values(), client.ParkCauses(), "ParkedFor.Cause"),
	paired(event.Actions.Values(), client.Actions(), "Decision.Action"),
	paired(event.Strategies.Values(), client.Strategies(), "Pack.Strategy"),
	paired(fetchcall.Vias.Values(), client.Vias()),
	paired(event.TicketKinds.Values(), client.TicketKinds(), "TicketDoc.Kind"),
	paired(event.TicketStates.Values(), client.TicketStates(), "TicketDoc.State"),
	paired(event.TicketOutcomes.Values(), client.TicketOutcomes(), "TicketDoc.Outcome"),
	paired(agent.Readinesses.Values(), client.Readinesses()),
	paired(agent.Kinds.Values(), client.AgentKinds(), "AgentSpec.Kind"),
	paired(agent.Phases(), client.CircuitStates(), "Circuit.State"),
	paired(identity.Roles.Values(), client.Roles()),
	paired(memory.Scopes.Values(), client.Scopes()),
	paired(memory.Statuses(), client.MemoryStatuses()).except(string(memory.Missing)), // it is refused
	paired(conversation.Roles.Values(), client.SpeakerRoles()),
	paired(view.ItemTypes(), client.ItemTypes(), "Item.Type"),
	paired(phrases.Intents(), client.Intents(), "Understood.Intent"),
	paired(alert.Severities.Values(), admin.Severities()),
	paired(foreign.Formats(), client.ImportFormats(), "Imported.Format"),
}

// inside are closed sets that the client has no copy of, and why. Those without a list are checked by their own package.
var inside = map[string]string{
	"help.Call":               "commands, by which Help.Call of the client names what helps: a client looks for those that it knows",
	"ticketverb.Verb":         "a client looks for those that it knows; the comment of Ticket.Verbs names them",
	"event.AdviceOutcome":     "in the record alone",
	"agent.ReachKind":         "a list of choices has what is accepted, and of these one is: the refusal names it",
	"erasure.Kind":            "the beginning of a subject, which the client has as one text",
	"agent.Author":            "in the record alone",
	"task.NoticeKind":         "types of inbox items, which the client has",
	"passage.Kind":            "in the words of the history",
	"agent.Outcome":           "in the record alone",
	"agent.CircuitAction":     "in the tables of the documentation",
	"agent.CircuitState":      "in the tables of the documentation",
	"agent.CircuitTrigger":    "in the tables of the documentation",
	"agent.Duty":              "in the tables of the documentation",
	"agent.DutyTrigger":       "in the tables of the documentation",
	"task.Relation":           "in the tables of the documentation",
	"task.Past":               "in the tables of the documentation",
	"alert.Comparison":        "in the definitions of alerts, which nobody names in a call",
	"alert.Measure":           "in the definitions of alerts, which nobody names in a call",
	"alert.Subject":           "in the definitions of alerts, which nobody names in a call",
	"alert.Unit":              "in the definitions of alerts, which nobody names in a call",
	"identity.Permission":     "a role has them; no call names one",
	"identity.Scope":          "in tokens of outside issuers, whose names are theirs",
	"envelope.PartKind":       "in the envelope, whose schema describes it",
	"envelope.OmissionReason": "in the envelope, whose schema describes it",
	"envelope.GapReason":      "in the envelope, whose schema describes it",
	"envelope.DroppedKind":    "in the envelope, whose schema describes it",
	"envelope.Listing":        "in the envelope, whose schema describes it",
	"workspace.Limit":         "a field each of the limits of a workspace",
	"view.TicketOrder":        "a text of the filter of tickets, whose comment names its values",
	"view.Format":             "of exports: json is for one task, see [client.ExportFormats]",
}

// listed are the lists of sets inside that have one.
var listed = map[string][]string{
	"agent.ReachKind":         asTexts(agent.ReachKinds.Values()),
	"event.AdviceOutcome":     asTexts(event.AdviceOutcomes.Values()),
	"envelope.PartKind":       asTexts(envelope.PartKinds.Values()),
	"envelope.OmissionReason": asTexts(envelope.OmissionReasons.Values()),
	"envelope.GapReason":      asTexts(envelope.GapReasons.Values()),
	"envelope.DroppedKind":    asTexts(envelope.DroppedKinds.Values()),
	"envelope.Listing":        asTexts(envelope.Listings.Values()),
	"view.TicketOrder":        asTexts(view.TicketOrders.Values()),
}

func TestTheClientsClosedSetsAreThoseOfTheServer(t *testing.T) {
	server, err := declaredSets("../domain", "../content/envelope", "../content/fetchcall", "../content/foreign", "../record/view", "../usecase/cluster")
	if err != nil {
		t.Fatal(err)
	}
	phrase, err := declaredSets("../routing/phrase")
	if err != nil {
		t.Fatal(err)
	}
	server["phrase.Intent"] = phrase["phrase.Intent"]
	copies, err := declaredSets("../../client")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences(server, copies, pairs, listed, inside) {
		t.Error(d)
	}
}

func TestTheClientWritesDurationsAsTheServerDoes(t *testing.T) {
	for _, d := range []time.Duration{0, time.Millisecond, 15 * time.Second, time.Minute, 90 * time.Second, time.Hour, 70 * time.Minute, 90 * time.Minute, time.Hour + time.Second, 10 * time.Hour, 36 * time.Hour, -time.Hour} {
		if server, copied := event.Duration(d).String(), client.Duration(d).String(); server != copied {
			t.Errorf("%s: the server writes %s, the client %s", d, server, copied)
		}
	}
}

func TestTheDescriptionOfTheAPIHasEveryClosedSet(t *testing.T) {
	text, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	described := enums(doc, nil)
	if len(described) < 10 {
		t.Fatalf("only %d enums are described", len(described))
	}
	for _, p := range pairs {
		if !slices.ContainsFunc(described, func(e []string) bool { return slices.Equal(e, p.values) }) {
			t.Errorf("no field has the values %v of %s: name it in closedSets of the HTTP API's schema", p.values, p.server)
		}
	}
}

func TestCommentsOfTheClientNameTheValuesOfTexts(t *testing.T) {
	comments, err := fieldComments("../../client")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		for _, field := range p.fields {
			if want := event.OneOf(p.values); !strings.Contains(comments[field], want) {
				t.Errorf("client.%s: the comment %q does not say %q", field, comments[field], want)
			}
		}
	}
}

// ownSets are the fields whose values are listed in a tag, because no type has them.
var ownSets = []string{"decideInput.Verdict", "deadInput.Action", "agentInput.Action", "alertsInput.Action", "channelInput.Action"}

func TestNoTagListsTheValuesOfAClosedSet(t *testing.T) {
	tags, err := enumTags("..", "../../client")
	if err != nil {
		t.Fatal(err)
	}
	for field, values := range tags {
		if !slices.Contains(ownSets, field) {
			t.Errorf("%s lists %s in its tag: give it the type of the closed set", field, values)
		}
	}
	for _, field := range ownSets {
		if tags[field] == "" {
			t.Errorf("%s has no tag any more", field)
		}
	}
}

// A value that is added in one place only, or a set that nobody compares, is found.
func TestAClosedSetThatDiffersIsFound(t *testing.T) {
	type sets = map[string][]string
	one := []pair{{server: "event.Kind", client: "client.Kind", values: []string{"warm", "cold"}, copied: []string{"warm", "cold"}}}
	server, copies := sets{"event.Kind": {"warm", "cold"}}, sets{"client.Kind": {"warm", "cold"}}
	if found := differences(server, copies, one, nil, nil); len(found) > 0 {
		t.Errorf("sets that are the same: %q", found)
	}
	changed := func(values, copied []string) []pair {
		p := one[0]
		p.values, p.copied = values, copied
		return []pair{p}
	}
	three := []string{"warm", "cold", "hot"}
	for name, found := range map[string][]string{
		"a constant of the server that its list lacks": differences(sets{"event.Kind": three}, copies, one, nil, nil),
		"a constant of the client that its list lacks": differences(server, sets{"client.Kind": three}, one, nil, nil),
		"a value that the client lacks":                differences(sets{"event.Kind": three}, copies, changed(three, []string{"warm", "cold"}), nil, nil),
		"a value that the server lacks":                differences(server, sets{"client.Kind": three}, changed([]string{"warm", "cold"}, three), nil, nil),
		"another order":                                differences(server, copies, changed([]string{"warm", "cold"}, []string{"cold", "warm"}), nil, nil),
		"a new set of the server":                      differences(sets{"event.Kind": {"warm", "cold"}, "event.Mood": {"good"}}, copies, one, nil, nil),
		"a new set of the client":                      differences(server, sets{"client.Kind": {"warm", "cold"}, "client.Mood": {"good"}}, one, nil, nil),
		"a set that is gone":                           differences(sets{}, copies, one, nil, nil),
		"a list that lacks a constant":                 differences(sets{"event.Kind": {"warm", "cold"}, "event.Mood": {"good", "bad"}}, copies, one, sets{"event.Mood": {"good"}}, map[string]string{"event.Mood": "planted"}),
	} {
		if len(found) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
}

// differences says where closed sets are not the same: the constants of a type and its list, the server's list and the client's; and
// which sets nobody compares. Constants are by package and type.
func differences(server, copies map[string][]string, pairs []pair, listed map[string][]string, inside map[string]string) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	compare := func(what string, want, got []string) {
		if !slices.Equal(want, got) {
			say("%s: %v, want %v", what, got, want)
		}
	}
	compared := map[string]bool{}
	for _, p := range pairs {
		compared[p.server] = true
		compare("the list of "+p.server, server[p.server], p.values)
		want := slices.DeleteFunc(slices.Clone(p.values), func(v string) bool { return slices.Contains(p.without, v) })
		compare("the client's copy of "+p.server, want, p.copied)
		if p.client != "" {
			compared[p.client] = true
			compare("the constants of "+p.client, p.copied, copies[p.client])
		}
	}
	for name, values := range listed {
		compare("the list of "+name, server[name], values)
	}
	for _, name := range slices.Sorted(maps.Keys(server)) {
		if !compared[name] && inside[name] == "" {
			say("%s is compared with no set of the client: add it to pairs, or to inside with a reason", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(copies)) {
		if !compared[name] {
			say("%s is compared with no set of the server: add it to pairs", name)
		}
	}
	return found
}

// declaredSets finds the types below some directories that have constants of text, and the constants in their order.
func declaredSets(dirs ...string) (map[string][]string, error) {
	sets := map[string][]string{}
	err := eachFile(dirs, func(file *ast.File) {
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				constant, ok := spec.(*ast.ValueSpec)
				if !ok {
					continue
				}
				typ, ok := constant.Type.(*ast.Ident)
				if !ok || typ.Name == "string" {
					continue
				}
				for _, value := range constant.Values {
					if text, ok := value.(*ast.BasicLit); ok && text.Kind == token.STRING {
						if s, err := strconv.Unquote(text.Value); err == nil {
							name := file.Name.Name + "." + typ.Name
							sets[name] = append(sets[name], s)
						}
					}
				}
			}
		}
	})
	return sets, err
}

// fieldComments are the comments at the ends of the lines of fields of structs in a directory, by type and field.
func fieldComments(dir string) (map[string]string, error) {
	comments := map[string]string{}
	err := eachFile([]string{dir}, func(file *ast.File) {
		for typ, f := range fields(file) {
			for _, name := range f.Names {
				comments[typ+"."+name.Name] = f.Comment.Text()
			}
		}
	})
	return comments, err
}

// enumTags are the values in the enum tags of fields of structs below some directories, by type and field.
func enumTags(dirs ...string) (map[string]string, error) {
	tags := map[string]string{}
	err := eachFile(dirs, func(file *ast.File) {
		for typ, f := range fields(file) {
			if f.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(f.Tag.Value)
			if values := reflect.StructTag(tag).Get("enum"); err == nil && values != "" {
				for _, name := range f.Names {
					tags[typ+"."+name.Name] = values
				}
			}
		}
	})
	return tags, err
}

// fields yields the fields of the structs that a file declares, with the names of their types.
func fields(file *ast.File) iter.Seq2[string, *ast.Field] {
	return func(yield func(string, *ast.Field) bool) {
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				typ, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				s, ok := typ.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range s.Fields.List {
					if !yield(typ.Name.Name, f) {
						return
					}
				}
			}
		}
	}
}

// eachFile parses every production file below some directories.
func eachFile(dirs []string, fn func(*ast.File)) error {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err == nil {
				fn(file)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// enums are all lists of values in a JSON document that are called enum.
func enums(v any, found [][]string) [][]string {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			list, ok := value.([]any)
			if key != "enum" || !ok {
				found = enums(value, found)
				continue
			}
			var texts []string
			for _, e := range list {
				if e != nil { // null stands for an omitted field
					texts = append(texts, fmt.Sprint(e))
				}
			}
			found = append(found, texts)
		}
	case []any:
		for _, value := range v {
			found = enums(value, found)
		}
	}
	return found
}

func asTexts[T ~string](values []T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
