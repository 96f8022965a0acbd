package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// unpacked are the files of a tar by name; directories are empty and end with a slash.
func unpacked(t *testing.T, r io.Reader) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = map[string][]byte{}, map[string]*tar.Header{}
	for from := tar.NewReader(r); ; {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], headers[h.Name] = b, h
	}
}

// blobOf returns a blob, whose digest and size must be those of the descriptor.
func blobOf(t *testing.T, files map[string][]byte, d descriptor) []byte {
	t.Helper()
	b, ok := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
	if sum := sha256.Sum256(b); !ok || "sha256:"+hex.EncodeToString(sum[:]) != d.Digest || len(b) != d.Size {
		t.Fatalf("the blob %+v is missing or another", d)
	}
	return b
}

func decode[T any](t *testing.T, b []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// contents are the configuration and the files of one image in a layout.
type contents struct {
	config  configuration
	files   map[string][]byte
	headers map[string]*tar.Header
}

// read reads a layout as an engine does: from the index to the manifests, and from those to configuration and layers.
func read(t *testing.T, layout io.Reader) map[string]contents {
	t.Helper()
	files, _ := unpacked(t, layout)
	if got := decode[map[string]string](t, files["oci-layout"]); got["imageLayoutVersion"] != "1.0.0" {
		t.Fatalf("a layout %v", got)
	}
	out := map[string]contents{}
	for _, d := range decode[index](t, files["index.json"]).Manifests {
		m := decode[manifest](t, blobOf(t, files, d))
		c := contents{config: decode[configuration](t, blobOf(t, files, m.Config))}
		if m.SchemaVersion != 2 || m.MediaType != typeManifest || len(m.Layers) != 1 || c.config.Architecture != d.Platform.Architecture || c.config.OS != "linux" {
			t.Fatalf("%+v, %+v", m, c.config)
		}
		z, err := gzip.NewReader(bytes.NewReader(blobOf(t, files, m.Layers[0])))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if ids := c.config.RootFS.DiffIDs; len(ids) != 1 || ids[0] != digest(layer) {
			t.Fatalf("the layer is not %q", ids)
		}
		c.files, c.headers = unpacked(t, bytes.NewReader(layer))
		out[d.Platform.Architecture] = c
	}
	return out
}

func layoutOf(t *testing.T) []byte {
	t.Helper()
	img := image{version: "v1.2.3", made: time.Unix(1700000000, 0).UTC()}
	for _, arch := range []string{"amd64", "arm64"} {
		if err := img.add(arch, []byte("program for "+arch), []byte("CAs")); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := img.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTheImageIsALayoutThatEnginesRead(t *testing.T) {
	layout := layoutOf(t)
	images := read(t, bytes.NewReader(layout))
	for _, arch := range []string{"amd64", "arm64"} {
		got := images[arch]
		if string(got.files["usr/bin/trapeze"]) != "program for "+arch || string(got.files["etc/ssl/certs/ca-certificates.crt"]) != "CAs" {
			t.Errorf("%s: %q", arch, got.files)
		}
		if h := got.headers["usr/bin/trapeze"]; h == nil || h.Mode != 0o755 || h.Uid != 0 {
			t.Errorf("the program: %+v", h)
		}
		if h := got.headers["data/"]; h == nil || h.Mode != 0o700 || h.Uid != user || h.Gid != user {
			t.Errorf("the data directory: %+v", h)
		}
		c := got.config.Config
		if c.User != "65532:65532" || strings.Join(append(c.Entrypoint, c.Cmd...), " ") != "/usr/bin/trapeze serve" || c.StopSignal != "SIGTERM" {
			t.Errorf("%+v", c)
		}
	}
	if !bytes.Equal(layout, layoutOf(t)) {
		t.Error("the same program gives another image")
	}
}

func TestTheBillNamesEveryModule(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "example.org/program"}, Deps: []*debug.Module{
		{Path: "example.org/b", Version: "v1.0.0", Sum: "h1:abc"},
		{Path: "example.org/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v2.0.0"}},
	}}
	b := billOf(info, "v1")
	var names []string
	for _, c := range b.Components {
		names = append(names, c.URL)
	}
	want := "pkg:golang/example.org/b@v1.0.0 pkg:golang/example.org/fork@v2.0.0 pkg:golang/std@1.26.0"
	if got := strings.Join(names, " "); got != want || b.Metadata.Component.Name != "example.org/program" {
		t.Errorf("%s; %+v", got, b.Metadata)
	}
}

func TestTheBillIsNotWrittenOverAnImage(t *testing.T) {
	for _, c := range [][3]string{{"", "", "trapeze.tar"}, {"", "bin/trapeze", "bin/trapeze.cdx.json"}, {"x.tar", "", "x.tar"}, {"x.json", "bin/trapeze", "x.json"}} {
		if got := outFile(c[0], c[1]); got != c[2] {
			t.Errorf("-o %q -bill %q: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
