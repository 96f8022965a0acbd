package trapeze_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A finding is one place where the tree breaks a rule.
type finding struct {
	pos  string // file:line, or a directory
	rule string
	text string
}

func (f finding) String() string { return f.pos + ": " + f.rule + ": " + f.text }

// A tree is the parsed source of one module, and the table that it should follow.
type tree struct {
	table  table
	fsys   fs.FS
	texts  []string // Go files and pages
	module string
	goMod  string
	fset   *token.FileSet
	dirs   map[string]*directory // by path below the module's root
}

// A directory is a package: its production files and its tests.
type directory struct {
	path  string
	files []*sourceFile
}

type sourceFile struct {
	path      string
	lines     int
	test      bool
	generated bool
	ast       *ast.File
}

// readTree parses every Go file of the module in fsys, whatever its build tags.
func readTree(fsys fs.FS, tb table) (*tree, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	t := &tree{table: tb, fsys: fsys, goMod: string(mod), fset: token.NewFileSet(), dirs: map[string]*directory{}}
	for line := range strings.Lines(t.goMod) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			t.module = strings.TrimSpace(name)
		}
	}
	if t.module == "" {
		return nil, errors.New("go.mod names no module")
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path.Base(name) == "testdata":
			return t.addTestdata(fsys, name)
		case d.IsDir() && name != "." && notOurs(fsys, name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if isText(name) {
			t.texts = append(t.texts, name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		return t.add(fsys, name)
	})
	return t, err
}

// addTestdata notes the texts of a testdata directory, in which no package is ours.
func (t *tree) addTestdata(fsys fs.FS, dir string) error {
	err := fs.WalkDir(fsys, dir, func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && (base == "node_modules" || strings.HasPrefix(base, "venv")): // programs of others, installed there
			return fs.SkipDir
		case !d.IsDir() && isText(name):
			t.texts = append(t.texts, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// notOurs tells which directories the go command leaves out of the module's packages too.
func notOurs(fsys fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return true
	}
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

func (t *tree) add(fsys fs.FS, name string) error {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	dir := path.Dir(name)
	if t.dirs[dir] == nil {
		t.dirs[dir] = &directory{path: dir}
	}
	t.dirs[dir].files = append(t.dirs[dir].files, &sourceFile{
		path:      name,
		lines:     bytes.Count(src, []byte("\n")),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(file),
		ast:       file,
	})
	return nil
}

// each calls fn for every file in a stable order.
func (t *tree) each(fn func(*directory, *sourceFile)) {
	for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
		for _, f := range t.dirs[dir].files {
			fn(t.dirs[dir], f)
		}
	}
}

func (t *tree) found(at token.Pos, rule, format string, args ...any) finding {
	p := t.fset.Position(at)
	return finding{pos: p.Filename + ":" + strconv.Itoa(p.Line), rule: rule, text: fmt.Sprintf(format, args...)}
}

// local turns an import path into a directory of this module.
func (t *tree) local(imported string) (dir string, ours bool) {
	if imported == t.module {
		return ".", true
	}
	return strings.CutPrefix(imported, t.module+"/")
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// under reports whether an import path is prefix or below it.
func under(imported, prefix string) bool {
	return imported == prefix || strings.HasPrefix(imported, prefix+"/")
}

func underAny(imported string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return under(imported, p) })
}
