package trapeze_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// rules are the checks on the whole tree. Each has at least one story in testdata/arch that it refuses.
var rules = []struct {
	name  string
	check func(*tree) []finding
}{
	{"import", checkImports},
	{"direction", checkDirection},
	{"group", checkGroups},
	{"package", checkPackages},
	{"table", checkTable},
	{"pure", checkPure},
	{"test import", checkTestImports},
	{"size", checkSizes},
	{"width", checkWidth},
	{"verb file", checkVerbFiles},
	{"noun", checkNouns},
	{"doc.go", checkDocFiles},
	{"found", checkFound},
	{"import claim", checkImportClaims},
	{"comment", checkComments},
	{"name", checkNames},
	{"go.mod", checkGoMod},
	{"word", checkWords},
	{"hint", checkHints},
	{"read", checkReads},
	{"command", checkCommands},
}

// parsed is the tree of this module, which several tests look at.
var parsed = sync.OnceValues(func() (*tree, error) { return readTree(os.DirFS("."), theTable) })

func theModule(t *testing.T) *tree {
	t.Helper()
	module, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func TestTheTreeFollowsItsRules(t *testing.T) {
	module := theModule(t)
	if len(module.dirs) < 2 {
		t.Fatalf("only %d packages found: is this the root of the module?", len(module.dirs))
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, f := range rule.check(module) {
				t.Error(f)
			}
		})
	}
}

// TestTenGroupsInOrder keeps the table itself: an import between groups points to an earlier one.
func TestTenGroupsInOrder(t *testing.T) {
	if len(groups) != 10 {
		t.Errorf("%d groups below internal: they are ten, by role; see docs/adr/0015-ten-groups-by-role.md", len(groups))
	}
	earlier := []string{"client"}
	for _, g := range groups {
		for _, to := range strings.Fields(g.imports) {
			if !underAny(to, earlier) {
				t.Errorf("%s may import %s, which is no earlier group", g.dir, to)
			}
		}
		earlier = append(earlier, g.dir)
	}
}

var update = flag.Bool("update", false, "rewrite the generated parts of docs/architecture.md")

func TestArchitecturePageShowsTheTable(t *testing.T) {
	const page = "docs/architecture.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for part, content := range map[string]string{"groups": theTable.groupsAsMarkdown(), "packages": theTable.packagesAsMarkdown()} {
		begin, end := "<!-- "+part+": begin -->\n", "<!-- "+part+": end -->\n"
		head, rest, ok1 := strings.Cut(text, begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("%s lacks the marks %q and %q", page, begin, end)
		}
		text = head + begin + content + end + tail
	}
	if text == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show the table in arch_table_*test.go: run go generate . and commit the result", page)
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (tb table) groupsAsMarkdown() string {
	var b strings.Builder
	b.WriteString("| group | what belongs there | may import |\n|---|---|---|\n")
	for _, g := range slices.Concat(tb.groups, tb.aside) {
		if g.dir != "." {
			b.WriteString("| `" + full(g.dir) + "` | " + g.what + " | " + strings.Join(strings.Fields(g.imports), ", ") + " |\n")
		}
	}
	return b.String()
}

func (tb table) packagesAsMarkdown() string {
	var b strings.Builder
	b.WriteString("| package | purpose | imports of ours | from outside |\n|---|---|---|---|\n")
	for _, p := range tb.packages {
		if p.dir == "." {
			continue
		}
		imports := byGroup(strings.Fields(p.imports))
		if p.pure {
			imports += " (pure)"
		}
		b.WriteString("| `" + p.dir + "` | " + p.what + " | " + strings.TrimSpace(imports) + " | " +
			strings.Join(strings.Fields(p.libs), ", ") + " |\n")
	}
	return b.String()
}

// byGroup writes packages for a reader, with each group's name once: "domain/event, task; record/view".
func byGroup(dirs []string) string {
	var b strings.Builder
	var last string
	for i, dir := range dirs {
		g, rest, nested := strings.Cut(dir, "/")
		switch {
		case i > 0 && g == last && nested:
			b.WriteString(", " + rest)
			continue
		case i > 0:
			b.WriteString("; ")
		}
		b.WriteString(dir)
		last = g
	}
	return b.String()
}
