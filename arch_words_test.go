package trapeze_test

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// retired are words, and pairs of words, that code and documentation no longer use, in small letters, with what to use
// instead. Each is found in a part of an identifier too (newDocket), and with the endings s, es, ed, d, er and ing. "Room" is
// a fine word for space, and is found only where it can be a package.
var retired = map[string]string{
	"anew":         "again, or new",
	"custody":      "task, or owner",
	"docket":       "task",
	"dispatch":     "phrase, or route",
	"door":         "API, or endpoint",
	"floor":        "layer",
	"get nowhere":  "make no progress",
	"gets nowhere": "makes no progress",
	"house":        "program, server, or tree",
	"knowledge":    "memory",
	"mend":         "fix, or correct",
	"on record":    "in the record, or recorded",
	"roster":       "agents",
	"rulebook":     "policy",
	"shelf":        "artifacts",
	"shelves":      "artifacts",
	"whoever":      "a noun",
	"whomever":     "a noun",
	"rooms":        "packages",
	"the room":     "the package",
	"a room":       "a package",
	"this room":    "this package",
	"each room":    "each package",
	"every room":   "every package",
	"one room":     "one package",
}

// allowed are the uses of retired words that are right.
var allowed = []struct {
	where string // a file, or a directory
	text  string // in the line
}{
	{"arch_words_test.go", ""}, // the list itself
	{"testdata/arch/words.txtar", ""},

	// what not to write, as examples
	{"CONTRIBUTING.md", `A noun instead of "whoever"`},
	{"CONTRIBUTING.md", "| mend the result"},
	{"CONTRIBUTING.md", "| an agent that gets nowhere"},
	{"CONTRIBUTING.md", "| Whoever sends"},
	{"CONTRIBUTING.md", "| Closed sets are types. Unknown"},
	{"CONTRIBUTING.md", "| what she answers"},

	{"CONTRIBUTING.md", "House style"},
	{"internal/cli/demo", "house style"},
	{"internal/cli/demo", "ouseStyle"},
	{"internal/cli/testdata/script/demo.txtar", "ouse style"},
	{"internal/api/mcpapi/outside/testdata/tasks.mjs", "rawDispatch"}, // of the SDK
	{"internal/record/view/sqlview/search/testdata/recall.json", ""},  // what people say
	{"internal/routing/phrase/grammar.go", "whoever"},                 // what people say
	{"internal/usecase/artifacts", "system/shelf"},                    // a principal in the record, which keeps its name
	{"internal/usecase/artifacts/sweep.go", `"shelf"`},
}

// frozen are files, and directories of files, that keep their words: releases have written them, others have, or stored bytes
// depend on them.
var frozen = []string{
	"internal/content/envelope/testdata/frozen",
	"internal/content/foreign/testdata",            // documents of other systems
	"internal/api/webpage/static/htmx.min.js",      // a program of others
	"internal/record/ledger/frame/dictionary1.txt", // stored entries are compressed with it
}

// together removes what is between the words of a pair; joined are the retired words without it.
var (
	together = strings.NewReplacer(" ", "", "_", "", "-", "")
	joined   = func() (words []string) {
		for word := range retired {
			words = append(words, together.Replace(word))
		}
		return words
	}()
)

// suspect reports whether a text can have a retired word: most have none, and need no closer look.
func suspect(text string) bool {
	text = together.Replace(strings.ToLower(text))
	return slices.ContainsFunc(joined, func(word string) bool { return strings.Contains(text, word) })
}

// wordPattern is one word, once splitCamel has separated those of an identifier.
var wordPattern = regexp.MustCompile(`[a-z]+`)

// checkWords finds retired words in the texts of the tree, and in their names.
func checkWords(t *tree) (out []finding) {
	for _, name := range t.texts {
		look := func(pos, text string) {
			for _, word := range retiredIn(text, name) {
				out = append(out, finding{pos: pos, rule: "word", text: fmt.Sprintf("%q is retired: %s", word, retired[word])})
			}
		}
		look(name, path.Base(name))
		text := t.text(name)
		if !suspect(text) {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if suspect(line) {
				look(fmt.Sprintf("%s:%d", name, i+1), line)
			}
		}
	}
	return out
}

func retiredIn(line, file string) (found []string) {
	words := wordPattern.FindAllString(strings.ToLower(splitCamel(line)), -1)
	for i, word := range words {
		for _, w := range []string{word, stem(word), strings.Join(words[i:min(i+2, len(words))], " ")} {
			if retired[w] != "" && !slices.Contains(found, w) && !isAllowed(file, line) {
				found = append(found, w)
			}
		}
	}
	return found
}

// stem removes an ending where that leaves a retired word.
func stem(word string) string {
	for _, ending := range []string{"s", "es", "ed", "d", "er", "ing"} {
		if short := strings.TrimSuffix(word, ending); retired[short] != "" {
			return short
		}
	}
	return word
}

// Words of an identifier begin after a small letter (newDocket) and at the last of several capitals (AnHTTPDoor).
var (
	lastCapital = regexp.MustCompile(`([A-Z])([A-Z][a-z])`)
	afterSmall  = regexp.MustCompile(`([a-z])([A-Z])`)
)

func splitCamel(line string) string {
	return afterSmall.ReplaceAllString(lastCapital.ReplaceAllString(line, "$1 $2"), "$1 $2")
}

func isAllowed(file, line string) bool {
	for _, a := range allowed {
		if under(file, a.where) && strings.Contains(line, a.text) {
			return true
		}
	}
	return false
}

// isText tells which files people read or edit: programs, pages, templates, settings, and what tests compare with; neither the history of the project nor
// what is frozen.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".txt", ".txtar", ".golden", ".html", ".css", ".yaml", ".yml", ".js", ".mjs", ".py", ".json", ".tpl", ".conf", ".service",
		".toml", ".tf", "":
		return name != "CHANGELOG.md" && !slices.ContainsFunc(frozen, func(dir string) bool { return under(name, dir) })
	}
	return false
}

// text is the content of a file of the tree; one that cannot be read has none, and the parser says so.
func (t *tree) text(name string) string {
	data, _ := fs.ReadFile(t.fsys, name)
	return string(data)
}
