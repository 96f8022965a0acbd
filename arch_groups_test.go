package trapeze_test

import (
	"fmt"
	"slices"
	"strings"
)

// A group is one directory below internal, or one that stands aside. Its packages may import each other, and the
// groups and single packages that are listed. A program that writes documentation (package main) may import from every
// group: nothing can import it.
type group struct {
	dir     string
	what    string // one sentence: which code belongs here
	imports string
}

// groups may import only groups before them. There are ten.
var groups = []group{
	{
		"domain", "May this happen? The rules, as pure functions, and the terms that they are written in.",
		"",
	},
	{
		"content", "What does the receiver read? What travels with a task: composed, counted, packed, checked, compared.",
		"domain",
	},
	{
		"routing", "Who receives the task? The choice among agents, with its reasons.",
		"domain",
	},
	{
		"record", "Did it happen? The ledger, changes to its streams, and the views derived from it.",
		"domain content/envelope",
	},
	{
		"files", "What is too large for the record? Content that is named by its digest.",
		"domain",
	},
	{
		"usecase", "Who asked, and may they? Each call is authorized, decided by the rules and recorded.",
		"domain content routing record files",
	},
	{
		"delivery", "Who needs to know? What follows from an entry: wake-ups, timers, notifications.",
		"domain record usecase",
	},
	{
		"api", "In which language? The protocols of other programs: HTTP, MCP, OAuth, metrics.",
		"domain content/drift content/expect content/tokenizer record/figure record/span record/view files/artifact usecase client",
	},
	{
		"cli", "In which language? The commands of people and scripts; they call the server by the public client.",
		"domain content/envelope content/drift record/durable record/proof files/artifact files/gitsnap api/mcpapi api/otelapi api/tracing client",
	},
	{
		"server", "Which parts run? Configuration, wiring, start and stop order.",
		"domain routing record files usecase delivery api",
	},
}

var aside = []group{
	{"scenario", "Tests of the whole program; no production code.", ""},
	{"client", "The public Go client; of internal it imports only how JSON is read and written.", "domain/fastjson"},
	{"trapezetest", "The test kit for users' own chains of agents: a server in memory, scripted agents, assertions.", "server client"},
	{"cmd", "The program.", "cli server record/ledger/natslog/natsnode"},
	{"deploy", "Packaging: a program that builds the container image, and files for compose, systemd and Helm.", ""},
	{".", "The architecture test and the package comment; no production code.", ""},
}

// notInternal are the groups aside that are not below internal.
var notInternal = []string{"client", "trapezetest", "cmd", "deploy", "."}

// full is the directory, below the module's root, that the table writes as name.
func full(name string) string {
	if slices.Contains(notInternal, groupName(name)) {
		return name
	}
	return "internal/" + name
}

// short is how the table writes a directory.
func short(dir string) string { return strings.TrimPrefix(dir, "internal/") }

// groupName is the first element of a directory as the table writes it.
func groupName(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

func (tb table) pkg(dir string) (pkg, bool) {
	i := slices.IndexFunc(tb.packages, func(p pkg) bool { return full(p.dir) == dir })
	if i < 0 {
		return pkg{}, false
	}
	return tb.packages[i], true
}

// group finds the group that a directory of the tree lies in.
func (tb table) group(dir string) (group, bool) {
	for _, g := range slices.Concat(tb.groups, tb.aside) {
		if under(dir, full(g.dir)) {
			return g, true
		}
	}
	return group{}, false
}

// checkGroups finds packages outside of the groups, and so any further directory below internal.
func checkGroups(t *tree) (out []finding) {
	for _, d := range t.dirs {
		if _, ok := t.table.group(d.path); !ok {
			out = append(out, finding{pos: d.path, rule: "group", text: "lies in no group: which of the ten does it belong to?"})
		}
	}
	return out
}

// checkPackages finds packages that the table does not list.
func checkPackages(t *tree) (out []finding) {
	for _, d := range t.dirs {
		if _, listed := t.table.pkg(d.path); !listed {
			out = append(out, finding{pos: d.path, rule: "package", text: "not in the table of arch_table_*test.go: what is it for?"})
		}
	}
	return out
}

// checkDirection finds imports that a group does not allow.
func checkDirection(t *tree) (out []finding) {
	t.eachImport(func(d *directory, f *sourceFile, imported, at string) {
		dir, ours := t.local(imported)
		from, known := t.table.group(d.path)
		if !ours || !known || f.ast.Name.Name == "main" && from.dir != "cmd" {
			return
		}
		to := short(dir)
		if groupName(to) != from.dir && !underAny(to, strings.Fields(from.imports)) {
			out = append(out, finding{pos: at, rule: "direction", text: fmt.Sprintf("group %s may not import %s", from.dir, to)})
		}
	})
	return out
}

// eachImport calls fn for each import of production code; at is its place.
func (t *tree) eachImport(fn func(d *directory, f *sourceFile, imported, at string)) {
	t.each(func(d *directory, f *sourceFile) {
		for _, spec := range f.ast.Imports {
			if !f.test {
				fn(d, f, importPath(spec), t.found(spec.Pos(), "", "").pos)
			}
		}
	})
}

// use is what one package, or one group, imports in production code, as the table would write it.
type use struct {
	ours []string
	libs []string
}

// used collects what each package and each group imports.
func (t *tree) used() (byPackage, byGroup map[string]use) {
	byPackage, byGroup = map[string]use{}, map[string]use{}
	t.eachImport(func(d *directory, f *sourceFile, imported, _ string) {
		p := byPackage[d.path]
		if dir, ours := t.local(imported); ours {
			p.ours = append(p.ours, short(dir))
			if g, ok := t.table.group(d.path); ok && f.ast.Name.Name != "main" || g.dir == "cmd" {
				byGroup[g.dir] = use{ours: append(byGroup[g.dir].ours, short(dir))}
			}
		} else {
			p.libs = append(p.libs, imported)
		}
		byPackage[d.path] = p
	})
	return byPackage, byGroup
}

// checkTable finds what the table lists in vain: packages that do not exist, or twice, and imports that nobody uses.
func checkTable(t *tree) (out []finding) {
	stale := func(what, format string, args ...any) {
		out = append(out, finding{pos: "table: " + what, rule: "table", text: fmt.Sprintf(format, args...)})
	}
	byPackage, byGroup := t.used()
	seen := map[string]bool{}
	for _, p := range t.table.packages {
		if seen[p.dir] {
			stale(p.dir, "listed twice")
		}
		seen[p.dir] = true
		if t.dirs[full(p.dir)] == nil {
			stale(p.dir, "does not exist: delete the entry")
			continue
		}
		uses := byPackage[full(p.dir)]
		for _, imported := range strings.Fields(p.imports) {
			if !slices.Contains(uses.ours, imported) {
				stale(p.dir, "does not use %s: delete it there", imported)
			}
		}
		for _, lib := range strings.Fields(p.libs) {
			if !slices.ContainsFunc(uses.libs, func(imported string) bool { return under(imported, lib) }) {
				stale(p.dir, "does not use %s: delete it there", lib)
			}
		}
	}
	for _, g := range slices.Concat(t.table.groups, t.table.aside) {
		for _, to := range strings.Fields(g.imports) {
			if !slices.ContainsFunc(byGroup[g.dir].ours, func(imported string) bool { return under(imported, to) }) {
				stale("group "+g.dir, "does not use %s: delete it there", to)
			}
		}
	}
	return out
}

// cutTo leaves of a table only what a small tree has and uses, so that a story about something else can use the table.
func (tb table) cutTo(t *tree) (cut table) {
	byPackage, byGroup := t.used()
	keep := func(list string, used []string, fits func(imported, entry string) bool) string {
		return strings.Join(slices.DeleteFunc(strings.Fields(list), func(entry string) bool {
			return !slices.ContainsFunc(used, func(imported string) bool { return fits(imported, entry) })
		}), " ")
	}
	same := func(imported, entry string) bool { return imported == entry }
	for _, p := range tb.packages {
		if t.dirs[full(p.dir)] != nil {
			uses := byPackage[full(p.dir)]
			p.imports, p.libs = keep(p.imports, uses.ours, same), keep(p.libs, uses.libs, under)
			cut.packages = append(cut.packages, p)
		}
	}
	for _, g := range tb.groups {
		g.imports = keep(g.imports, byGroup[g.dir].ours, under)
		cut.groups = append(cut.groups, g)
	}
	for _, g := range tb.aside {
		g.imports = keep(g.imports, byGroup[g.dir].ours, under)
		cut.aside = append(cut.aside, g)
	}
	return cut
}
