package trapeze_test

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// nouns are the concepts of Trapeze. Each has one name, by which a reader finds it in every layer.
var nouns = []string{
	"task", "agent", "policy", "ticket", "memory", "conversation", "channel", "artifact", "envelope", "token", "route",
}

// layers are where a reader looks for a noun, with the directories that are searched.
var layers = []struct{ name, dirs string }{
	{"the rules", "internal/domain internal/content internal/routing internal/files"},
	{"the use cases", "internal/usecase"},
	{"the HTTP API", "internal/api/httpapi"},
	{"the MCP server", "internal/api/mcpapi"},
	{"the command line", "internal/cli"},
	{"the client", "client"},
}

// checkNouns wants a package or a Go file of the name of each noun, in the singular or the plural, in each layer.
func checkNouns(t *tree) (out []finding) {
	for _, layer := range layers {
		dirs := strings.Fields(layer.dirs)
		names := map[string]bool{}
		for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
			if !underAny(dir, dirs) {
				continue
			}
			names[path.Base(dir)] = true
			for _, f := range t.dirs[dir].files {
				if !f.test {
					names[strings.TrimSuffix(path.Base(f.path), ".go")] = true
				}
			}
		}
		for _, noun := range t.table.nouns {
			if !names[noun] && !names[plural(noun)] {
				out = append(out, finding{pos: dirs[0], rule: "noun", text: fmt.Sprintf("no file or package of %s is named %q or %q", layer.name, noun, plural(noun))})
			}
		}
	}
	return out
}

func plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return stem + "ies"
	}
	return noun + "s"
}
