package trapeze_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

// rules are the checks on the whole tree. Each has at least one story in testdata/arch that it refuses.
var rules = []struct {
	name  string
	check func(*tree) []finding
}{
	{"import", checkImports},
	{"unknown room", checkRooms},
	{"pure", checkPure},
	{"test import", checkTestImports},
	{"size", checkSizes},
	{"doc.go", checkDocFiles},
	{"import claim", checkImportClaims},
	{"comment", checkComments},
	{"name", checkNames},
	{"go.mod", checkGoMod},
}

func TestTheHouseIsInOrder(t *testing.T) {
	house, err := readTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(house.dirs) < 2 {
		t.Fatalf("only %d packages found: is this the root of the module?", len(house.dirs))
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, f := range rule.check(house) {
				t.Error(f)
			}
		})
	}
}

func TestTheTableNamesEachRoomOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rooms {
		if seen[r.dir] {
			t.Errorf("%s is listed twice", r.dir)
		}
		seen[r.dir] = true
	}
	for _, r := range rooms {
		for _, dep := range r.ours {
			if dep != everyRoom && !seen[dep] {
				t.Errorf("%s may import %s, which is no room", r.dir, dep)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite the generated part of docs/architecture.md")

func TestArchitecturePageShowsTheTable(t *testing.T) {
	const page, begin, end = "docs/architecture.md", "<!-- table: begin -->\n", "<!-- table: end -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks the marks %q and %q", page, begin, end)
	}
	want := head + begin + tableAsMarkdown() + end + tail
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show the table in arch_rooms_test.go: run go generate . and commit the result", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func tableAsMarkdown() string {
	var b strings.Builder
	b.WriteString("| room | what it is | may import of ours | from outside |\n|---|---|---|---|\n")
	for _, r := range rooms {
		if r.dir == "." {
			continue
		}
		ours := shorten(r.ours)
		if r.pure {
			ours += " (pure)"
		}
		b.WriteString("| `" + strings.TrimPrefix(r.dir, "internal/") + "` | " + r.what + " | " +
			strings.TrimSpace(ours) + " | " + strings.Join(r.libs, ", ") + " |\n")
	}
	return b.String()
}

// shorten writes a list of rooms for a reader: the domain as one word, and no "internal/".
func shorten(ours []string) string {
	if slices.Contains(ours, everyRoom) {
		return "every room" + strings.TrimPrefix(strings.Join(ours, ", "), everyRoom)
	}
	list := strings.Join(ours, ", ")
	list = strings.Replace(list, strings.Join(domain, ", "), "domain types", 1)
	return strings.ReplaceAll(list, "internal/", "")
}
