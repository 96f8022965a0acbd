package webpage

import (
	"compress/gzip"
	"path"
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

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
