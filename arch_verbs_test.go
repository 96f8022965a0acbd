package trapeze_test

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// maxMethods bounds the exported methods of a type of the use cases, promoted ones included: what one reader, or one
// API, has to know of it.
const maxMethods = 40

// A method is one declaration of a method, with its file.
type method struct {
	name string
	file *sourceFile
	decl *ast.FuncDecl
}

// methodsOf collects what production code declares on a type of a directory.
func (d *directory) methodsOf(typeName string) (out []method) {
	for _, f := range d.files {
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && !f.test && fn.Recv != nil && receiver(fn) == typeName {
				out = append(out, method{name: fn.Name.Name, file: f, decl: fn})
			}
		}
	}
	return out
}

// eachType calls fn for every type that production code of the directory declares, by name.
func (d *directory) eachType(fn func(f *sourceFile, spec *ast.TypeSpec)) {
	for _, f := range d.files {
		for _, decl := range f.ast.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || f.test || group.Tok != token.TYPE {
				continue
			}
			for _, spec := range group.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					fn(f, spec)
				}
			}
		}
	}
}

// checkWidth counts the exported methods of the types of the use cases, which the APIs, delivery and the server see.
func checkWidth(t *tree) (out []finding) {
	t.each(func(d *directory, f *sourceFile) {
		if f != d.files[0] || !under(d.path, "internal/usecase") {
			return
		}
		d.eachType(func(_ *sourceFile, spec *ast.TypeSpec) {
			names := map[string]bool{}
			t.promoted(d, spec.Name.Name, names, map[string]bool{})
			if len(names) > maxMethods {
				out = append(out, t.found(spec.Pos(), "width", "%s shows %d exported methods, embedded ones included, limit %d: "+
					"give each noun a type of its own", spec.Name.Name, len(names), maxMethods))
			}
		})
	})
	return out
}

// promoted collects the names of the exported methods that a type of this module has, by itself and by what it embeds.
func (t *tree) promoted(d *directory, name string, names, seen map[string]bool) {
	id := d.path + "." + name
	if seen[id] {
		return
	}
	seen[id] = true
	for _, m := range d.methodsOf(name) {
		if ast.IsExported(m.name) {
			names[m.name] = true
		}
	}
	d.eachType(func(f *sourceFile, spec *ast.TypeSpec) {
		if spec.Name.Name != name {
			return
		}
		var embedded []ast.Expr
		switch typ := spec.Type.(type) {
		case *ast.StructType:
			for _, field := range typ.Fields.List {
				if len(field.Names) == 0 {
					embedded = append(embedded, field.Type)
				}
			}
		case *ast.InterfaceType:
			for _, m := range typ.Methods.List {
				if len(m.Names) == 0 {
					embedded = append(embedded, m.Type)
				} else if m.Names[0].IsExported() {
					names[m.Names[0].Name] = true
				}
			}
		default:
			if spec.Assign.IsValid() {
				embedded = append(embedded, typ) // an alias
			}
		}
		for _, expr := range embedded {
			if in, of := t.resolve(d, f, expr); in != nil {
				t.promoted(in, of, names, seen)
			}
		}
	})
}

// resolve finds the package and the name of a type of this module, as an expression of a file names it.
func (t *tree) resolve(d *directory, f *sourceFile, expr ast.Expr) (*directory, string) {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return t.resolve(d, f, e.X)
	case *ast.IndexExpr:
		return t.resolve(d, f, e.X)
	case *ast.Ident:
		return d, e.Name
	case *ast.SelectorExpr:
		pkg, ok := e.X.(*ast.Ident)
		if !ok {
			return nil, ""
		}
		for _, spec := range f.ast.Imports {
			dir, ours := t.local(importPath(spec))
			name := path.Base(dir)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if ours && name == pkg.Name {
				return t.dirs[dir], e.Sel.Name
			}
		}
	}
	return nil, ""
}

// reads are the first words of use cases that only look. Those of one package may share read.go.
var reads = []string{"Get", "List", "Show", "Find", "Search", "Watch", "Wait"}

// checkVerbFiles wants each verb in the file of its name, from the rules to the client: ReportGap in report_gap.go.
//
//   - A command of the rules is a verb: a struct of domain/handoff with the method decide.
//   - A use case is a verb: a method that takes a context and a caller, of the type that is named like its package.
//   - A method of client.Client is a verb if a command or a use case of tasks that does not only read has the name, or has
//     it without "Task".
func checkVerbFiles(t *tree) (out []finding) {
	t.eachVerb(func(v verb) {
		file, has := snake(v.name)+".go", path.Base(v.file.path)
		if has != file && (!v.read || has != "read.go") {
			out = append(out, t.found(v.at, "verb file", "%s of %s belongs in %s", v.name, v.in, file))
		}
	})
	return out
}

// A verb is one declaration of a verb, or of what decides it.
type verb struct {
	in, name string
	file     *sourceFile
	at       token.Pos
	read     bool // a use case that only looks
}

// eachVerb calls fn for each verb of the rules, of the use cases and of the client, as [checkVerbFiles] says.
func (t *tree) eachVerb(fn func(verb)) {
	ofTasks := map[string]bool{}
	if d := t.dirs["internal/domain/handoff"]; d != nil {
		d.eachType(func(f *sourceFile, spec *ast.TypeSpec) {
			_, isStruct := spec.Type.(*ast.StructType)
			for _, m := range d.methodsOf(spec.Name.Name) {
				if isStruct && m.name == "decide" {
					ofTasks[spec.Name.Name] = true
					fn(verb{in: d.path, name: spec.Name.Name, file: f, at: spec.Pos()})
					fn(verb{in: d.path, name: spec.Name.Name, file: m.file, at: m.decl.Pos()})
				}
			}
		})
	}
	for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
		if !under(dir, "internal/usecase") {
			continue
		}
		for _, m := range t.dirs[dir].useCases() {
			if path.Base(dir) == "tasks" {
				ofTasks[m.name] = !isRead(m.name)
			}
			fn(verb{in: dir, name: m.name, file: m.file, at: m.decl.Pos(), read: isRead(m.name)})
		}
	}
	if d := t.dirs["client"]; d != nil {
		for _, m := range d.methodsOf("Client") {
			if ofTasks[m.name] || ofTasks[strings.TrimSuffix(m.name, "Task")] {
				fn(verb{in: d.path, name: m.name, file: m.file, at: m.decl.Pos()})
			}
		}
	}
}

func isRead(name string) bool {
	return slices.ContainsFunc(reads, func(word string) bool { return strings.HasPrefix(snake(name)+"_", strings.ToLower(word)+"_") })
}

// useCases are the exported methods of the package's own noun (agents.Agents) that take a context and a caller.
func (d *directory) useCases() (out []method) {
	d.eachType(func(_ *sourceFile, spec *ast.TypeSpec) {
		if !strings.EqualFold(spec.Name.Name, path.Base(d.path)) {
			return
		}
		for _, m := range d.methodsOf(spec.Name.Name) {
			if ast.IsExported(m.name) && takes(m.decl, "Context", "Caller") {
				out = append(out, m)
			}
		}
	})
	return out
}

// takes reports whether a function's first parameters have types of these names, of whatever package.
func takes(decl *ast.FuncDecl, names ...string) bool {
	var types []string
	for _, field := range decl.Type.Params.List {
		name := ""
		switch typ := field.Type.(type) {
		case *ast.Ident:
			name = typ.Name
		case *ast.SelectorExpr:
			name = typ.Sel.Name
		}
		for range max(1, len(field.Names)) {
			types = append(types, name)
		}
	}
	return len(types) >= len(names) && slices.Equal(types[:len(names)], names)
}

// snake writes a Go name as a file name: ReportGap as report_gap.
func snake(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
