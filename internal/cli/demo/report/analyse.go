package report

import (
	"bytes"
	"context"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
)

// Analysis has figures for each package, and the imports between them.
type Analysis struct {
	Root     string    `json:"root"` // directory of the module
	Module   string    `json:"module"`
	Packages []Metrics `json:"packages"`
	Omitted  int       `json:"omitted,omitempty"`
}

// Metrics are the figures of one package, without its tests.
type Metrics struct {
	Dir          string   `json:"dir"`
	Name         string   `json:"name"`
	Synopsis     string   `json:"synopsis,omitempty"` // the first sentence of its package comment
	Files        int      `json:"files"`
	Tests        int      `json:"tests"` // test files
	Lines        int      `json:"lines"`
	Functions    int      `json:"functions"`
	Longest      string   `json:"longest,omitempty"`       // name of the longest function
	LongestLines int      `json:"longest_lines,omitempty"` // length of the longest function
	Exported     int      `json:"exported"`
	Undocumented []string `json:"undocumented,omitempty"` // exported names without a comment
	Imports      []string `json:"imports,omitempty"`      // directories of the same module
	ImportedBy   []string `json:"imported_by,omitempty"`
	Broken       []string `json:"broken,omitempty"`
}

// Analyse reads the files of a survey. It calls note before it reads a package; an error from note ends the analysis.
func Analyse(ctx context.Context, s Survey, note func(i int, dir string) error) (Analysis, error) {
	a := Analysis{Root: s.Root, Module: s.Module, Omitted: s.Omitted}
	importers := map[string][]string{}
	for i, l := range s.Packages {
		if err := ctx.Err(); err != nil {
			return a, err
		}
		if err := note(i, l.Dir); err != nil {
			return a, err
		}
		m, err := measure(s.Root, l)
		if err != nil {
			return a, err
		}
		a.Packages = append(a.Packages, m)
		for _, dir := range l.Imports {
			importers[dir] = append(importers[dir], l.Dir)
		}
	}
	for i := range a.Packages {
		a.Packages[i].ImportedBy = importers[a.Packages[i].Dir]
	}
	return a, nil
}

func measure(root string, l Listing) (Metrics, error) {
	m := Metrics{Dir: l.Dir, Name: l.Name, Files: len(l.Files), Tests: l.Tests, Imports: l.Imports, Broken: l.Broken}
	fset := token.NewFileSet()
	for _, name := range l.Files {
		file := filepath.Join(root, filepath.FromSlash(l.Dir), name)
		src, err := os.ReadFile(file)
		if err != nil {
			return m, err
		}
		m.Lines += bytes.Count(src, []byte("\n"))
		f, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue // in Broken, or with an error after its imports
		}
		if f.Doc != nil && m.Synopsis == "" {
			m.Synopsis = new(doc.Package).Synopsis(f.Doc.Text())
		}
		for _, d := range f.Decls {
			m.declaration(fset, d)
		}
	}
	slices.Sort(m.Undocumented)
	return m, nil
}

func (m *Metrics) declaration(fset *token.FileSet, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		m.Functions++
		if lines := fset.Position(d.End()).Line - fset.Position(d.Pos()).Line + 1; lines > m.LongestLines {
			m.Longest, m.LongestLines = functionName(d), lines
		}
		if d.Name.IsExported() && exportedReceiver(d) {
			m.export(functionName(d), d.Doc != nil)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					m.export(s.Name.Name, d.Doc != nil || s.Doc != nil || s.Comment != nil)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() {
						m.export(n.Name, d.Doc != nil || s.Doc != nil || s.Comment != nil)
					}
				}
			}
		}
	}
}

func (m *Metrics) export(name string, documented bool) {
	m.Exported++
	if !documented {
		m.Undocumented = append(m.Undocumented, name)
	}
}

func functionName(d *ast.FuncDecl) string {
	if r := receiver(d); r != "" {
		return r + "." + d.Name.Name
	}
	return d.Name.Name
}

// receiver is the name of a method's type, without its type parameters; empty for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	r := receiver(d)
	return r == "" || ast.IsExported(r)
}
