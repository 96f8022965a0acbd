package configfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// JSON sets fields of the object at a path, and keeps the rest of the text. It creates missing objects of the path. Comments and trailing
// commas are allowed. It refuses text that is not JSON, and a path through a value that is not an object.
func JSON(text string, path []string, fields Object) (string, error) {
	root, err := parse(text)
	if err != nil {
		return "", err
	}
	if root == nil {
		if strings.Trim(text, "\ufeff") != "" && !strings.HasSuffix(text, "\n") {
			text += "\n" // the text ends with a comment
		}
		return text + render(under(path, fields), "\n", "  ") + "\n", nil
	}
	at, missing, err := walk(root, path)
	if err != nil {
		return "", err
	}
	l := layoutOf(text, root)
	if len(missing) > 0 {
		return apply(text, l.add(at, scalar(missing[0])+": ", under(missing[1:], fields))), nil
	}
	for _, f := range fields { // each edits the result of the previous one
		switch old := at.find(f.Name); {
		case old == nil:
			text = apply(text, l.add(at, scalar(f.Name)+": ", f.Value))
		case !means(old.plain(text), f.Value):
			text = apply(text, []edit{{old.start, old.end, render(f.Value, l.margin(old.start), l.unit)}})
		default:
			continue
		}
		if root, err = parse(text); err != nil {
			return "", err
		}
		if at, _, err = walk(root, path); err != nil {
			return "", err
		}
		l = layoutOf(text, root)
	}
	return text, nil
}

// JSONHook sets a command in the list at a path: it replaces the first member "command" that is ours, or else adds the element.
func JSONHook(text string, path []string, ours func(command string) bool, command string, element any) (string, error) {
	root, err := parse(text)
	if err != nil {
		return "", err
	}
	if root == nil {
		return JSON(text, path[:len(path)-1], Object{{path[len(path)-1], List{element}}})
	}
	parent, missing, err := walk(root, path[:len(path)-1])
	if err != nil {
		return "", err
	}
	name := path[len(path)-1]
	if len(missing) > 0 || parent.find(name) == nil {
		return JSON(text, path[:len(path)-1], Object{{name, List{element}}})
	}
	list := parent.find(name)
	if list.kind != '[' {
		return "", broken(text, list.start, fmt.Sprintf("%s is not a list", strings.Join(path, ".")))
	}
	if old := findCommand(text, list, ours); old != nil {
		if means(text[old.start:old.end], command) {
			return text, nil
		}
		return apply(text, []edit{{old.start, old.end, scalar(command)}}), nil
	}
	return apply(text, layoutOf(text, root).add(list, "", element)), nil
}

// JSONCommand returns the first member "command" below a path that is ours; found is false if there is none, or if the text is not JSON.
func JSONCommand(text string, path []string, ours func(command string) bool) (command string, found bool) {
	root, err := parse(text)
	if err != nil || root == nil {
		return "", false
	}
	at := root
	for _, name := range path {
		if at = at.find(name); at == nil {
			return "", false
		}
	}
	n := findCommand(text, at, ours)
	if n == nil {
		return "", false
	}
	return command, json.Unmarshal([]byte(text[n.start:n.end]), &command) == nil
}

// JSONAt returns the value at a path, as JSON without comments; it reports false if there is none, or if the text is not JSON.
func JSONAt(text string, path ...string) (json.RawMessage, bool) {
	at, err := parse(text)
	if err != nil {
		return nil, false
	}
	for _, name := range path {
		if at == nil {
			return nil, false
		}
		at = at.find(name)
	}
	if at == nil {
		return nil, false
	}
	return json.RawMessage(at.plain(text)), true
}

// under wraps a value in the objects of a path.
func under(path []string, v any) any {
	for _, name := range slices.Backward(path) {
		v = Object{{name, v}}
	}
	return v
}

// walk follows a path, and returns the last object that exists and the missing rest.
func walk(root *node, path []string) (at *node, missing []string, err error) {
	at = root
	for i := 0; ; i++ {
		if at.kind != '{' {
			where := "the file"
			if i > 0 {
				where = strings.Join(path[:i], ".")
			}
			return nil, nil, fmt.Errorf("%s is not an object", where)
		}
		if i == len(path) {
			return at, nil, nil
		}
		next := at.find(path[i])
		if next == nil {
			return at, path[i:], nil
		}
		at = next
	}
}

// findCommand finds the first member "command" that is ours.
func findCommand(text string, n *node, ours func(string) bool) *node {
	for _, m := range n.members {
		if m.name == "command" && m.value.kind == '"' {
			var said string
			if json.Unmarshal([]byte(text[m.value.start:m.value.end]), &said) == nil && ours(said) {
				return m.value
			}
		}
		if found := findCommand(text, m.value, ours); found != nil {
			return found
		}
	}
	for _, e := range n.elements {
		if found := findCommand(text, e, ours); found != nil {
			return found
		}
	}
	return nil
}

// layout is the layout of a text: line ends and indentation.
type layout struct {
	text, newline, unit string
}

func layoutOf(text string, root *node) layout {
	l := layout{text: text, newline: "\n", unit: "  "}
	if strings.Contains(text, "\r\n") {
		l.newline = "\r\n"
	}
	if _, some := root.last(); some {
		if margin := l.margin(root.first()); l.alone(root.first()) && len(margin) > len(l.newline) {
			l.unit = strings.TrimPrefix(strings.TrimPrefix(margin, l.newline), strings.TrimPrefix(l.margin(root.start), l.newline))
		}
	}
	return l
}

// margin is a line end with the indentation of the line at an offset.
func (l layout) margin(at int) string {
	line := l.text[strings.LastIndexByte(l.text[:at], '\n')+1 : at]
	return l.newline + line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// alone reports whether only white space precedes an offset on its line.
func (l layout) alone(at int) bool {
	return strings.TrimSpace(l.text[strings.LastIndexByte(l.text[:at], '\n')+1:at]) == "" && strings.Contains(l.text[:at], "\n")
}

// add appends a part to an object or list, in the layout of the other parts.
func (l layout) add(n *node, name string, v any) []edit {
	end, some := n.last()
	if !some { // empty, or with a comment only, which stays
		inner := l.margin(n.start) + l.unit
		inside := strings.TrimRight(l.text[n.start+1:n.end-1], " \t\r\n")
		return []edit{{n.start + 1 + len(inside), n.end - 1, inner + name + render(v, inner, l.unit) + l.margin(n.start)}}
	}
	tail := l.text[end : n.end-1]
	var edits []edit
	if !hasComma(tail) {
		edits = append(edits, edit{end, end, ","})
	}
	behind := end + len(strings.TrimRight(tail, " \t\r\n")) // a comment on the last part stays with it
	if !l.alone(n.first()) && !strings.Contains(tail, "\n") {
		return append(edits, edit{behind, behind, " " + name + render(v, "", "")})
	}
	inner := l.margin(n.first())
	if !l.alone(n.first()) {
		inner = l.margin(n.start) + l.unit
	}
	return append(edits, edit{behind, behind, inner + name + render(v, inner, l.unit)})
}

// hasComma reports whether a text starts with a comma, after white space and comments.
func hasComma(text string) bool {
	s := &scanner{text: text}
	return s.space() == nil && s.peek() == ','
}
