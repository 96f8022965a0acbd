package configfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// TOML sets fields of a table, which are strings or lists of strings, and keeps the rest of the text. It appends a missing table. It
// refuses text that is not TOML, and an inline table.
func TOML(text string, table []string, fields Object) (string, error) {
	list, err := statements(text)
	if err != nil {
		return "", err
	}
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	header, err := tableOf(text, list, table)
	if err != nil {
		return "", err
	}
	if header < 0 {
		gap := ""
		if text != "" && !strings.HasSuffix(text, "\n") {
			gap = newline
		}
		if text != "" {
			gap += newline
		}
		return text + gap + "[" + key(table) + "]" + newline + lines(fields, newline), nil
	}
	behind := list[header].end
	var edits []edit
	var missing Object
	for _, f := range fields {
		old := -1
		for i := header + 1; i < len(list) && !list[i].header; i++ {
			behind = list[i].end
			if len(list[i].path) == 1 && list[i].path[0] == f.Name {
				old = i
			}
		}
		switch {
		case old < 0:
			missing = append(missing, f)
		case !meansTOML(text[list[old].from:list[old].to], f.Value):
			edits = append(edits, edit{list[old].from, list[old].to, render(f.Value, "", "")})
		}
	}
	if len(missing) > 0 {
		added := lines(missing, newline)
		if !strings.HasSuffix(text[:behind], "\n") {
			added = newline + added
		}
		edits = append(edits, edit{behind, behind, added})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	return apply(text, edits), nil
}

// TOMLAt returns a field of a table as JSON, which is a string, a list of strings, or an object of the strings of a table; false: there is none.
func TOMLAt(text string, table []string, name string) (json.RawMessage, bool) {
	list, err := statements(text)
	if err != nil {
		return nil, false
	}
	header, err := tableOf(text, list, table)
	if err != nil || header < 0 {
		return nil, false
	}
	var below Object
	in := table
	for _, s := range list[header:] {
		if s.header {
			if in = s.path; s.array {
				in = nil
			}
			continue
		}
		whole := slices.Concat(in, s.path)
		if !startsWith(whole, table) || len(whole) == len(table) || whole[len(table)] != name {
			continue
		}
		v, ok := plainTOML(text[s.from:s.to])
		switch {
		case ok && len(whole) == len(table)+1:
			return json.RawMessage(v), true
		case ok && len(whole) == len(table)+2:
			below = append(below, Field{whole[len(whole)-1], json.RawMessage(v)})
		}
	}
	return json.RawMessage(render(below, "", "")), len(below) > 0
}

// lines writes fields, one per line. JSON strings are valid TOML strings.
func lines(fields Object, newline string) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(key([]string{f.Name}) + " = " + render(f.Value, "", "") + newline)
	}
	return b.String()
}

// key writes a dotted key.
func key(path []string) string {
	list := make([]string, len(path))
	for i, p := range path {
		if list[i] = p; p == "" || strings.ContainsFunc(p, func(r rune) bool { return !bare(r) }) {
			list[i] = scalar(p)
		}
	}
	return strings.Join(list, ".")
}

func bare(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// tableOf finds the header of a table; -1 if there is none.
func tableOf(text string, list []statement, table []string) (at int, err error) {
	at = -1
	var in []string
	for i, s := range list {
		whole := s.path
		if s.header {
			in = s.path
		} else {
			whole = slices.Concat(in, s.path)
		}
		name := key(table)
		switch {
		case s.header && slices.Equal(whole, table) && !s.array && at < 0:
			at = i
		case s.header && slices.Equal(whole, table):
			return -1, broken(text, s.start, "the table "+name+" is defined twice, or is an array of tables")
		case s.header && s.array && startsWith(table, whole):
			return -1, broken(text, s.start, key(whole)+" is an array of tables")
		case !s.header && (startsWith(table, whole) || startsWith(whole, table) && !startsWith(in, table)):
			return -1, broken(text, s.start, fmt.Sprintf("%s is not written as a table [%s]: change that by hand first", key(whole), name))
		}
	}
	return at, nil
}

func startsWith(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// meansTOML reports whether a value in a text is equal to a string or a list of strings.
func meansTOML(source string, v any) bool {
	plain, ok := plainTOML(source)
	return ok && means(plain, v)
}

// plainTOML is a string, a list of strings or an inline table of strings as JSON; false for anything else.
func plainTOML(source string) (string, bool) {
	s := &tomlScanner{text: source}
	last := map[byte]byte{'[': ']', '{': '}'}[s.peek()]
	if last == 0 {
		v, err := s.quoted()
		return scalar(v), err == nil && s.at == len(source)
	}
	words, members := []string{}, Object{}
	s.at++
	for {
		if s.blank(true); s.peek() == last {
			break
		}
		var name []string
		if last == '}' {
			if name, _ = s.key(); len(name) != 1 || s.peek() != '=' {
				return "", false
			}
			s.at++
			s.blank(false)
		}
		v, err := s.quoted()
		if err != nil {
			return "", false
		}
		if words = append(words, v); last == '}' {
			members = append(members, Field{name[0], v})
		}
		if s.blank(true); s.peek() == ',' {
			s.at++
		} else if s.peek() != last {
			return "", false
		}
	}
	if last == '}' {
		return render(members, "", ""), s.at == len(source)-1
	}
	return scalar(words), s.at == len(source)-1
}
