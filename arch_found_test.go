package trapeze_test

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkFound wants that a reader who sees the names of files and the package comments alone knows what each file of a package of many
// files is for. A package comment names the file, or the file has the name of its package, of a verb (see [tree.eachVerb]) or of a noun.
func checkFound(t *tree) (out []finding) {
	known := t.knownNames()
	comments := map[string]string{}
	var all strings.Builder
	for dir, d := range t.dirs {
		comments[dir] = d.comment()
		all.WriteString(" " + comments[dir])
	}
	for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
		files := t.dirs[dir].production()
		if len(files) <= unindexed || strings.HasSuffix(dir, "test") || !strings.Contains(strings.ToLower(comments[dir]), "where to change what") {
			continue // another rule wants the list
		}
		for _, f := range files {
			file := path.Base(f.path)
			name := platform.ReplaceAllString(strings.TrimSuffix(file, ".go"), "")
			switch {
			case f.generated, file == "doc.go", isForm(name, path.Base(dir)), known[name]:
			case namesFile(comments[dir], name), namesFile(all.String(), path.Base(dir)+"/"+name):
			default:
				out = append(out, finding{pos: f.path, rule: "found", text: fmt.Sprintf(
					"no package comment says what %s is for, and it is not named after a verb or a noun", file)})
			}
		}
	}
	return out
}

// platform matches the end of the name of a file that is compiled on some systems alone.
var platform = regexp.MustCompile(`_(unix|linux|windows|other|notlinux)$`)

// namesFile reports whether a comment names a file, as a whole name or as the end of a path, without or with the system that it is for.
func namesFile(comment, name string) bool {
	for rest := comment; ; {
		before, after, found := strings.Cut(rest, name)
		if !found {
			return false
		}
		whole := before == "" || strings.ContainsRune(" /([", rune(before[len(before)-1]))
		if word, _, _ := strings.Cut(after, ".go"); whole && word != after && platform.ReplaceAllString(word, "") == "" {
			return true
		}
		rest = after
	}
}

// knownNames are the names of files that say what the file is for in every layer: those of verbs, of the nouns of the table, and of the
// packages of rules, content and use cases, which are nouns too.
func (t *tree) knownNames() map[string]bool {
	known := map[string]bool{}
	t.eachVerb(func(v verb) { known[snake(v.name)] = true })
	noun := func(n string) { known[n], known[plural(n)], known[singular(n)] = true, true, true }
	for _, n := range t.table.nouns {
		noun(n)
	}
	for dir := range t.dirs {
		if underAny(dir, []string{"internal/domain", "internal/content", "internal/usecase"}) {
			noun(path.Base(dir))
		}
	}
	return known
}

func singular(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(noun, "s")
}

func isForm(name, noun string) bool {
	return name == noun || name == singular(noun) || name == plural(noun)
}

// production are the files of a package that are no tests.
func (d *directory) production() []*sourceFile {
	return slices.DeleteFunc(slices.Clone(d.files), func(f *sourceFile) bool { return f.test })
}

// comment is the package comment in doc.go, or in the file of a program, on one line.
func (d *directory) comment() string {
	text := ""
	for _, f := range d.files {
		if f.ast.Doc != nil && (path.Base(f.path) == "doc.go" || f.ast.Name.Name == "main") {
			text = strings.Join(strings.Fields(f.ast.Doc.Text()), " ")
		}
	}
	return text
}
