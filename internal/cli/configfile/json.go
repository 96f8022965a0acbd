package configfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// JSON gives the object at a path the fields; what else is in it, and in the text, stays. Comments are allowed. What of
// the path is missing is made. It refuses text that is not JSON, and a path through something that is no object.
func JSON(text string, path []string, fields Object) (string, error) {
	root, err := parse(text)
	if err != nil {
		return "", err
	}
	if root == nil {
		if strings.Trim(text, "\ufeff") != "" && !strings.HasSuffix(text, "\n") {
			text += "\n" // it ends in a comment
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
	for _, f := range fields { // each on the text that the one before left
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

// JSONHook sees to it that in the list at a path there is an element with a member "command" that is ours: it becomes the
// command. Where there is none, the element is added.
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
		return "", broken(text, list.start, fmt.Sprintf("%s is no list", strings.Join(path, ".")))
	}
	if old := findCommand(text, list, ours); old != nil {
		if means(text[old.start:old.end], command) {
			return text, nil
		}
		return apply(text, []edit{{old.start, old.end, scalar(command)}}), nil
	}
	return apply(text, layoutOf(text, root).add(list, "", element)), nil
}

// JSONCommand is the first member "command" below a path that is ours. Not found where there is none, or the text is not
// JSON.
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

// JSONAt is the value at a path, as JSON without comments. Not found where there is none, or the text is not JSON.
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

// under puts a value at the end of a path.
func under(path []string, v any) any {
	for _, name := range slices.Backward(path) {
		v = Object{{name, v}}
	}
	return v
}

// walk goes along a path as far as it is there.
func walk(root *node, path []string) (at *node, missing []string, err error) {
	at = root
	for i := 0; ; i++ {
		if at.kind != '{' {
			where := "what the file holds"
			if i > 0 {
				where = strings.Join(path[:i], ".")
			}
			return nil, nil, fmt.Errorf("%s is no object", where)
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

// findCommand is the value of the first member "command" that is ours.
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

// layout is how a text is laid out.
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

// margin is a newline and what stands before the first thing on the line of a place.
func (l layout) margin(at int) string {
	line := l.text[strings.LastIndexByte(l.text[:at], '\n')+1 : at]
	return l.newline + line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// alone reports whether nothing stands before a place on its line.
func (l layout) alone(at int) bool {
	return strings.TrimSpace(l.text[strings.LastIndexByte(l.text[:at], '\n')+1:at]) == "" && strings.Contains(l.text[:at], "\n")
}

// add puts a part behind the last one of an object or list, in the way that the others stand there.
func (l layout) add(n *node, name string, v any) []edit {
	end, some := n.last()
	if !some { // its inside is empty, or a comment, which stays
		inner := l.margin(n.start) + l.unit
		inside := strings.TrimRight(l.text[n.start+1:n.end-1], " \t\r\n")
		return []edit{{n.start + 1 + len(inside), n.end - 1, inner + name + render(v, inner, l.unit) + l.margin(n.start)}}
	}
	tail := l.text[end : n.end-1]
	var edits []edit
	if !hasComma(tail) {
		edits = append(edits, edit{end, end, ","})
	}
	behind := end + len(strings.TrimRight(tail, " \t\r\n")) // what is said of the last one stays with it
	if !l.alone(n.first()) && !strings.Contains(tail, "\n") {
		return append(edits, edit{behind, behind, " " + name + render(v, "", "")})
	}
	inner := l.margin(n.first())
	if !l.alone(n.first()) {
		inner = l.margin(n.start) + l.unit
	}
	return append(edits, edit{behind, behind, inner + name + render(v, inner, l.unit)})
}

// hasComma reports whether there is a comma between comments.
func hasComma(text string) bool {
	s := &scanner{text: text}
	return s.space() == nil && s.peek() == ','
}
