package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// named is an event of any package.
type named interface{ EventName() string }

// events is the page of the events: what the types and their comments say. root is where the module's source is.
func events(root string) (string, error) {
	var b strings.Builder
	b.WriteString("# Events\n\n" + generated +
		"Everything that happens is one of these events in the ledger, as JSON, under its name and version. Fields are added, never changed: anything " +
		"else makes a new version, and old ones are brought up to it when they are read. A field marked * is left out where it is empty.\n")
	for _, section := range []struct {
		title, dir string
		events     []named
	}{
		{"Tasks and handoffs", "internal/domain/event", list(event.Events)},
		{"Agents", "internal/domain/agent", list(agent.Events)},
		{"Tokens", "internal/domain/identity", list(identity.Events)},
		{"Memory", "internal/domain/memory", list(memory.Events)},
		{"Conversations", "internal/domain/conversation", list(conversation.Events)},
		{"Channels", "internal/domain/channel", list(channel.Events)},
		{"Workspaces", "internal/domain/workspace", list(workspace.Events)},
		{"Artifacts", "internal/files/artifact", list(artifact.Events)},
		{"Policies", "internal/domain/policy", list(policy.Events)},
		{"Alerts", "internal/domain/alert", list(alert.Events)},
		{"The key of the record", "internal/record/proof", list(proof.KeyEvents)},
		{"Segments", "internal/record/proof", list(proof.SegmentEvents)},
		{"Erasures and legal holds", "internal/domain/erasure", list(erasure.Events)},
	} {
		src, err := read(filepath.Join(root, section.dir))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n", section.title)
		var types []string
		for _, e := range section.events {
			name := reflect.TypeOf(e).Name()
			types = append(types, name)
			version := 1
			if old, ok := e.(ledger.Upcast); ok {
				version += len(old.Upcasts())
			}
			fmt.Fprintf(&b, "\n### %s\n\nVersion %d. %s\n", e.EventName(), version, sentence(name, src.docs[name]))
			src.fields(&b, name)
		}
		src.parts(&b, types)
	}
	return b.String(), nil
}

func list[E named](all []E) []named {
	out := make([]named, len(all))
	for i, e := range all {
		out[i] = e
	}
	return out
}

// source is what the files of a package say about its types.
type source struct {
	docs    map[string]string
	structs map[string]*ast.StructType
	words   map[string][]string // the values of closed sets
}

func read(dir string) (source, error) {
	s := source{docs: map[string]string{}, structs: map[string]*ast.StructType{}, words: map[string][]string{}}
	files, err := os.ReadDir(dir)
	if err != nil {
		return s, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, f.Name()), nil, parser.ParseComments)
		if err != nil {
			return s, err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				s.take(d)
			}
		}
	}
	return s, nil
}

func (s *source) take(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc.Text()
			if doc == "" {
				doc = d.Doc.Text()
			}
			s.docs[spec.Name.Name] = doc
			if st, ok := spec.Type.(*ast.StructType); ok {
				s.structs[spec.Name.Name] = st
			}
		case *ast.ValueSpec:
			set, ok := spec.Type.(*ast.Ident)
			if d.Tok != token.CONST || !ok || len(spec.Values) != 1 {
				continue
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				value, err := strconv.Unquote(lit.Value)
				if err == nil {
					s.words[set.Name] = append(s.words[set.Name], value)
				}
			}
		}
	}
}

// fields is the table of a struct's fields, as JSON has them.
func (s *source) fields(b *strings.Builder, name string) {
	st := s.structs[name]
	if st == nil || len(st.Fields.List) == 0 {
		return
	}
	b.WriteString("\n| field | type | |\n|---|---|---|\n")
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			continue
		}
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if strings.Contains(options, "omit") {
			key += "*"
		}
		text := f.Comment.Text()
		if text == "" {
			text = f.Doc.Text()
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, plain(expression(f.Type)), strings.Join(strings.Fields(text), " "))
	}
}

// expression is a type as it is written. It has the forms that fields of events have.
func expression(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return expression(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + expression(e.X)
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + expression(e.Elt)
		}
	case *ast.MapType:
		return "map[" + expression(e.Key) + "]" + expression(e.Value)
	}
	panic(fmt.Sprintf("a field of an event has a type of the form %T", e))
}

// parts tells the structs and closed sets that events are made of: all that the events lead to.
func (s *source) parts(b *strings.Builder, events []string) {
	var names []string
	for todo := slices.Clone(events); len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if st := s.structs[name]; st != nil {
			for _, f := range st.Fields.List {
				part := strings.TrimLeft(expression(f.Type), "[]*")
				if (s.structs[part] != nil || s.words[part] != nil) && !slices.Contains(names, part) && !slices.Contains(events, part) {
					names = append(names, part)
					todo = append(todo, part)
				}
			}
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(b, "\n### %s\n\n%s\n", name, sentence(name, s.docs[name]))
		s.fields(b, name)
		if words := s.words[name]; words != nil {
			fmt.Fprintf(b, "\nOne of `%s`.\n", strings.Join(words, "`, `"))
		}
	}
}

// sentence is a doc comment without the name of the type before it.
func sentence(name, doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	doc = strings.TrimPrefix(strings.TrimPrefix(doc, name), ":")
	doc = strings.TrimPrefix(strings.TrimSpace(doc), "is ")
	if doc == "" {
		return ""
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}

// plain is a Go type in words that a reader of JSON knows.
func plain(goType string) string {
	if rest, ok := strings.CutPrefix(goType, "[]"); ok {
		return "list of " + plain(rest)
	}
	switch t := strings.TrimPrefix(goType, "*"); t {
	case "time.Time":
		return "time"
	case "json.RawMessage":
		return "JSON"
	case "int", "int64", "uint64", "float64":
		return "number"
	case "bool":
		return "true or false"
	default:
		return t
	}
}
