package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
)

// page is the page with its tables as they are now, each between its marks.
func page(text string) (string, error) {
	for name, table := range map[string]string{"fields": fieldTables(), "variables": variableTable()} {
		begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->\n"
		head, rest, ok1 := strings.Cut(text, begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			return "", fmt.Errorf("policy.md lacks the marks %q and %q", begin, end)
		}
		text = head + begin + table + end + tail
	}
	return text, nil
}

func fieldTables() string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "\n### %s\n\n| field | type | |\n|---|---|---|\n", o.title)
		for _, m := range members(o.of) {
			doc := m.doc
			if m.need {
				doc = "Needed. " + doc
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.name, inWords(m.of), doc)
		}
	}
	return b.String() + "\n"
}

func inWords(t reflect.Type) string {
	if set, ok := closed[t]; ok {
		return strings.Join(set, ", ")
	}
	if t == reflect.TypeFor[event.Duration]() {
		return "duration"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return inWords(t.Elem())
	case reflect.Slice:
		return "list of " + inWords(t.Elem())
	case reflect.Map:
		return "by name: " + inWords(t.Elem())
	case reflect.Struct:
		for _, o := range objects {
			if o.of == t {
				return strings.ToLower(o.title[:1]) + o.title[1:]
			}
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	default:
	}
	return "text"
}

func variableTable() string {
	var b strings.Builder
	b.WriteString("\n| name | type | |\n|---|---|---|\n")
	for _, v := range policy.Variables() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, v.Type, v.Doc)
	}
	return b.String() + "\n"
}
