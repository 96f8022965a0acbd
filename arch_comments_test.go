package trapeze_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// unindexed is the number of production files up to which a package needs no list of what is decided where.
const unindexed = 4

// checkDocFiles wants a package comment in doc.go everywhere. A comment below internal also says where to start, and that of a package of
// many files, unless it is for tests, where to change what. A program may keep its comment in main.go.
func checkDocFiles(t *tree) (out []finding) {
	for _, d := range t.dirs {
		comment := strings.ToLower(d.comment())
		switch {
		case comment == "":
			out = append(out, finding{pos: d.path, rule: "doc.go", text: "no package comment in doc.go"})
		case under(d.path, "internal") && !strings.Contains(comment, "start reading at"):
			out = append(out, finding{pos: d.path, rule: "doc.go", text: "the package comment does not say: start reading at"})
		}
		if len(d.production()) > unindexed && !strings.HasSuffix(d.path, "test") && !strings.Contains(comment, "where to change what") {
			out = append(out, finding{pos: d.path, rule: "doc.go", text: "a package of many files, whose comment does not say: where to change what"})
		}
		if words := notAThing.FindString(comment); words != "" && len(d.production()) > 0 {
			out = append(out, finding{pos: d.path, rule: "doc.go", text: fmt.Sprintf("the package comment says %q: say what the package does, or has", words)})
		}
		out = append(out, staleNames(d, comment)...)
		out = append(out, t.stalePaths(d, comment)...)
	}
	return out
}

// notAThing matches a first sentence that calls a package something that a package is not, such as the use cases of a noun.
var notAThing = regexp.MustCompile(`^package [a-z0-9]+ is ((how|what|who|where|for|when)\b|(the )?([a-z]+ )?[a-z]+[^su]s (of|as|that|with)\b)`)

// goFile matches the name of a Go file of the package itself, not the path of another's.
var goFile = regexp.MustCompile(`(?:^|[\s(\[,])([a-z0-9_]+\.go)\b`)

// staleNames finds what a package comment calls by a name that is gone: its package, or a file.
func staleNames(d *directory, comment string) (out []finding) {
	if first, named := strings.CutPrefix(comment, "package "); named && path.Base(d.path) != "." {
		if first, _, _ = strings.Cut(first, " "); strings.TrimSuffix(first, ":") != path.Base(d.path) {
			out = append(out, finding{pos: d.path, rule: "doc.go", text: "the package comment calls it package " + first})
		}
	}
	for _, m := range goFile.FindAllStringSubmatch(comment, -1) {
		if !slices.ContainsFunc(d.files, func(f *sourceFile) bool { return path.Base(f.path) == m[1] }) {
			out = append(out, finding{pos: d.path, rule: "doc.go", text: "the package comment names " + m[1] + ", which is not there"})
		}
	}
	return out
}

// goPath matches the path of a Go file of another package, or the end of one from a directory on, such as task/clock.go.
var goPath = regexp.MustCompile(`(?:^|[\s(\[,])((?:[a-z0-9_]+/)+[a-z0-9_]+\.go)\b`)

// dataPath matches the path of a file of the package itself that is no Go file.
var dataPath = regexp.MustCompile(`(?:^|[\s(\[,])((?:static|templates|testdata)/[a-z0-9_/-]+\.[a-z]+)\b`)

// stalePaths finds the files of other packages, and the data of its own, that a package comment names and that are gone.
func (t *tree) stalePaths(d *directory, comment string) (out []finding) {
	for _, m := range goPath.FindAllStringSubmatch(comment, -1) {
		found := false
		t.each(func(_ *directory, f *sourceFile) {
			found = found || strings.HasSuffix("/"+f.path, "/"+m[1])
		})
		if !found {
			out = append(out, finding{pos: d.path, rule: "doc.go", text: "the package comment names " + m[1] + ", which is not there"})
		}
	}
	for _, m := range dataPath.FindAllStringSubmatch(comment, -1) {
		if _, err := fs.Stat(t.fsys, path.Join(d.path, m[1])); err != nil {
			out = append(out, finding{pos: d.path, rule: "doc.go", text: "the package comment names " + m[1] + ", which is not there"})
		}
	}
	return out
}

// importClaim matches words about what a package imports. They go stale: the table is the only list.
var importClaim = regexp.MustCompile(`(?i)\b(may|must|can|never|only|it|that|package)( not| only| never)? imports?\b`)

// checkImportClaims refuses package comments that say what the package imports.
func checkImportClaims(t *tree) (out []finding) {
	t.each(func(_ *directory, f *sourceFile) {
		if f.ast.Doc == nil {
			return
		}
		if claim := importClaim.FindString(strings.Join(strings.Fields(f.ast.Doc.Text()), " ")); claim != "" {
			out = append(out, t.found(f.ast.Doc.Pos(), "import claim",
				"the package comment says %q: the table in arch_table_*test.go is the only list of imports", claim))
		}
	})
	return out
}

// selfEvident are methods whose meaning is fixed by a standard interface.
var selfEvident = []string{
	"Error", "Unwrap", "Is", "As", "String", "GoString", "Format", "MarshalJSON", "UnmarshalJSON", "MarshalText",
	"UnmarshalText", "Len", "Less", "Swap", "Push", "Pop", "ServeHTTP", "Read", "Write", "Close",
}

// checkComments wants a doc comment on everything exported.
func checkComments(t *tree) (out []finding) {
	t.each(func(_ *directory, f *sourceFile) {
		if f.test || f.generated || f.ast.Name.Name == "main" {
			return
		}
		for _, decl := range f.ast.Decls {
			for _, name := range undocumented(decl) {
				out = append(out, t.found(name.Pos(), "comment", "exported %s has no doc comment", name.Name))
			}
		}
	})
	return out
}

func undocumented(decl ast.Decl) (names []*ast.Ident) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		onExported := decl.Recv == nil || ast.IsExported(receiver(decl))
		standard := decl.Recv != nil && slices.Contains(selfEvident, decl.Name.Name)
		if decl.Doc == nil && decl.Name.IsExported() && onExported && !standard {
			names = append(names, decl.Name)
		}
	case *ast.GenDecl:
		if decl.Doc != nil && (decl.Tok != token.TYPE || !decl.Lparen.IsValid()) {
			return nil // the comment speaks for the whole group
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Doc == nil && spec.Comment == nil && spec.Name.IsExported() {
					names = append(names, spec.Name)
				}
			case *ast.ValueSpec:
				if spec.Doc == nil && spec.Comment == nil && spec.Names[0].IsExported() {
					names = append(names, spec.Names[0])
				}
			}
		}
	}
	return names
}

// receiver is the name of a method's type, without pointer and type parameters.
func receiver(decl *ast.FuncDecl) string {
	expr := decl.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// vagueNames say nothing about what is inside.
var vagueNames = []string{"util", "utils", "common", "types", "models", "model", "manager", "helpers", "helper", "misc", "base", "shared"}

// standardNames are the names of the standard library's packages.
var standardNames = sync.OnceValues(func() ([]string, error) {
	list, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		return nil, err
	}
	var names []string
	for p := range strings.FieldsSeq(string(list)) {
		if !slices.Contains(strings.Split(p, "/"), "internal") && !strings.HasPrefix(p, "vendor/") {
			names = append(names, path.Base(p))
		}
	}
	return names, nil
})

// checkNames refuses packages that are named vaguely or like a standard one, or unlike their directory.
func checkNames(t *tree) (out []finding) {
	std, err := standardNames()
	if err != nil {
		return []finding{{pos: "go list std", rule: "name", text: err.Error()}}
	}
	for _, d := range t.dirs {
		name := strings.TrimSuffix(d.files[0].ast.Name.Name, "_test")
		bad := func(text string) {
			out = append(out, finding{pos: d.path, rule: "name", text: "package " + name + " " + text})
		}
		switch {
		case slices.Contains(vagueNames, name):
			bad("says nothing about what is inside")
		case slices.Contains(std, name):
			bad("shadows the standard library")
		case name != "main" && d.path != "." && name != path.Base(d.path):
			bad("is not named like its directory")
		}
	}
	return out
}
