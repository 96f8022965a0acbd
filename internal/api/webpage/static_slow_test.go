//go:build slow

package webpage

import (
	"compress/gzip"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// maxScripts is how many bytes all scripts of the page may have, compressed.
const maxScripts = 100 << 10

func TestTheScriptsTogetherAreSmall(t *testing.T) {
	files, err := staticFiles.ReadDir("static")
	if err != nil {
		t.Fatal(err)
	}
	var size counter
	scripts := 0
	for _, f := range files {
		if path.Ext(f.Name()) != ".js" {
			continue
		}
		b, err := staticFiles.ReadFile("static/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(&size)
		if _, err := z.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		scripts++
	}
	if scripts < 2 || size > maxScripts {
		t.Errorf("%d scripts have %d bytes", scripts, size)
	}
}

// decided matches what variables.css alone decides: a colour, or a size of type.
var decided = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b[^:{]*;|(?:rgb|hsl|lab|lch|color|light-dark)a?\(|font(?:-size)?:[^;}]*\d|(?:fill|stroke|style|bgcolor)="`)

func TestColoursAndSizesOfTypeAreInOneFile(t *testing.T) {
	files := map[string]fs.FS{"static/page.css": staticFiles}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil || len(names) < 10 {
		t.Fatal(err, names)
	}
	for _, name := range append(names, "templates/parts/parts.html") {
		files[name] = templateFiles
	}
	for name, in := range files {
		b, err := fs.ReadFile(in, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range decided.FindAllString(string(b), -1) {
			t.Errorf("%s has %q", name, found)
		}
	}
	if b, err := fs.ReadFile(staticFiles, "static/variables.css"); err != nil || len(decided.FindAll(b, -1)) < 20 {
		t.Errorf("%v: the test finds no colours where they are", err)
	}
}

// listed is the beginning of an item of a list that a template makes.
var listed = regexp.MustCompile(`{{range [^}]*}}(?:\s|{{(?:\$|if)[^}]*}})*<(?:li|tr|details|section|figure|article)\b[^>]*>`)

// An update of a page keeps what is chosen, selected and in sight of an item of a list if the item has an id.
func TestEachItemOfAListHasAnID(t *testing.T) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	more, err2 := fs.Glob(templateFiles, "templates/parts/*.html")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	n := 0
	for _, name := range append(names, more...) {
		b, err := fs.ReadFile(templateFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range listed.FindAllString(string(b), -1) {
			if n++; !strings.Contains(item, ` id="`) {
				t.Errorf("%s has %s without an id", name, item)
			}
		}
	}
	if n < 30 {
		t.Errorf("the test finds %d lists", n)
	}
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
