package report

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// MaxPackages is the maximum number of packages in a report.
const MaxPackages = 400

// Survey lists the packages of a module, and their files.
type Survey struct {
	Root     string    `json:"root"` // directory of the module
	Module   string    `json:"module"`
	Packages []Listing `json:"packages"`
	Omitted  int       `json:"omitted,omitempty"` // packages beyond MaxPackages
}

// Listing is one package directory.
type Listing struct {
	Dir     string   `json:"dir"` // relative to the root, with slashes; "." is the root
	Name    string   `json:"name"`
	Files   []string `json:"files"` // without tests
	Tests   int      `json:"tests"` // test files
	Imports []string `json:"imports,omitempty"`
	Broken  []string `json:"broken,omitempty"` // files that do not parse
}

// Count is the number of packages and files in a survey, test files included.
type Count struct{ Packages, Files int }

// Count counts packages and files.
func (s Survey) Count() Count {
	c := Count{Packages: len(s.Packages)}
	for _, l := range s.Packages {
		c.Files += len(l.Files) + l.Tests
	}
	return c
}

func (c Count) String() string {
	return fmt.Sprintf("%d packages with %d files, tests included", c.Packages, c.Files)
}

// ParseCount parses the output of [Count.String].
func ParseCount(text string) (c Count, err error) {
	if _, err = fmt.Sscanf(text, "%d packages with %d files", &c.Packages, &c.Files); err != nil {
		return c, fmt.Errorf("%.80q is not a count: %w", text, err)
	}
	return c, nil
}

// Differs describes how an analysis differs from the count; empty if it does not.
func (c Count) Differs(a Analysis) string {
	t := a.Totals()
	if got := (Count{Packages: t.Packages, Files: t.Files + t.Tests}); got != c {
		return fmt.Sprintf("the survey listed %s; the analysis has %s", c, got)
	}
	return ""
}

// ErrNoModule is the error for a directory without a Go module.
var ErrNoModule = errors.New("no go.mod here")

// ModuleAt returns the module path that dir's go.mod declares, or [ErrNoModule].
func ModuleAt(dir string) (string, error) {
	f, err := os.Open(filepath.Join(dir, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoModule
	} else if err != nil {
		return "", err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0] == "module" {
			return strings.Trim(fields[1], "\"`"), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s names no module", f.Name())
}

// Look lists the packages of the module at root, and calls note for each. It omits directories that Go ignores, vendored code and nested
// modules.
func Look(ctx context.Context, root string, note func(string)) (Survey, error) {
	module, err := ModuleAt(root)
	if err != nil {
		return Survey{}, err
	}
	s := Survey{Root: root, Module: module}
	err = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.IsDir():
			return nil
		case dir != root && ignored(dir, d.Name()):
			return filepath.SkipDir
		}
		l, err := listing(root, dir, module)
		if err != nil || len(l.Files)+l.Tests == 0 {
			return err
		}
		if len(s.Packages) == MaxPackages {
			s.Omitted++
			return nil
		}
		s.Packages = append(s.Packages, l)
		note(l.Dir)
		return nil
	})
	if err == nil && len(s.Packages) == 0 {
		err = fmt.Errorf("the module %s has no Go files", module)
	}
	slices.SortFunc(s.Packages, func(a, b Listing) int { return strings.Compare(a.Dir, b.Dir) })
	return s, err
}

func ignored(dir, name string) bool {
	if name == "vendor" || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func listing(root, dir, module string) (Listing, error) {
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return Listing{}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Dir: filepath.ToSlash(rel)}
	imports := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			continue
		}
		if strings.HasSuffix(name, "_test.go") {
			l.Tests++
			continue
		}
		l.Files = append(l.Files, name)
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ImportsOnly)
		if err != nil {
			l.Broken = append(l.Broken, name)
			continue
		}
		l.Name = f.Name.Name
		for _, spec := range f.Imports {
			if p, err := strconv.Unquote(spec.Path.Value); err == nil && (p == module || strings.HasPrefix(p, module+"/")) {
				imports[path.Clean("./"+strings.TrimPrefix(p, module))] = true
			}
		}
	}
	for dir := range imports {
		l.Imports = append(l.Imports, dir)
	}
	slices.Sort(l.Imports)
	if l.Name == "" {
		l.Name = path.Base(l.Dir)
	}
	return l, nil
}
