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
	"maps"
	"slices"
	"time"
)

// Media types of the OCI image specification, version 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// user is the user and group of the process: that of images without root, by custom.
const user = 65532

// image is an image for some processors, in memory.
type image struct {
	version   string
	made      time.Time
	blobs     map[string][]byte // by digest
	manifests []descriptor
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

// configuration is how the image is run.
type configuration struct {
	Created time.Time `json:"created"`
	platform
	Config struct {
		User         string              `json:"User"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts"`
		Env          []string            `json:"Env"`
		Entrypoint   []string            `json:"Entrypoint"`
		Cmd          []string            `json:"Cmd"`
		Volumes      map[string]struct{} `json:"Volumes"`
		WorkingDir   string              `json:"WorkingDir"`
		Labels       map[string]string   `json:"Labels"`
		StopSignal   string              `json:"StopSignal"`
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
}

// add adds the program for one processor.
func (img *image) add(arch string, program, cas []byte) error {
	layer, err := layerOf(program, cas, img.made)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(layer); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	c := configuration{Created: img.made, platform: platform{arch, "linux"}}
	c.Config.User, c.Config.WorkingDir, c.Config.StopSignal = "65532:65532", "/data", "SIGTERM"
	c.Config.Env = []string{"PATH=/usr/bin", "TRAPEZE_DATA=/data"}
	c.Config.Entrypoint, c.Config.Cmd = []string{"/usr/bin/trapeze"}, []string{"serve"}
	c.Config.ExposedPorts, c.Config.Volumes = map[string]struct{}{"8727/tcp": {}}, map[string]struct{}{"/data": {}}
	c.Config.Labels = map[string]string{
		"org.opencontainers.image.title": "trapeze", "org.opencontainers.image.description": "A handoff server for AI agents",
		"org.opencontainers.image.version": img.version, "org.opencontainers.image.licenses": "Apache-2.0",
	}
	c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{digest(layer)}
	config, err := img.json(typeConfig, c)
	if err != nil {
		return err
	}
	d, err := img.json(typeManifest, manifest{2, typeManifest, config, []descriptor{img.blob(typeLayer, packed.Bytes())}})
	d.Platform = &platform{arch, "linux"}
	// The first is that of containerd and Docker, the second that of the OCI.
	d.Annotations = map[string]string{"io.containerd.image.name": "localhost/trapeze:" + img.version, "org.opencontainers.image.ref.name": img.version}
	img.manifests = append(img.manifests, d)
	return err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// blob keeps a blob.
func (img *image) blob(media string, b []byte) descriptor {
	if img.blobs == nil {
		img.blobs = map[string][]byte{}
	}
	d := digest(b)
	img.blobs[d] = b
	return descriptor{MediaType: media, Digest: d, Size: len(b)}
}

func (img *image) json(media string, v any) (descriptor, error) {
	b, err := json.Marshal(v)
	return img.blob(media, b), err
}

// write writes the layout as a tar.
func (img *image) write(to io.Writer) error {
	list, err := json.Marshal(index{2, typeIndex, img.manifests})
	if err != nil {
		return err
	}
	t := archive{w: tar.NewWriter(to), made: img.made}
	t.file("oci-layout", 0o644, 0, []byte(`{"imageLayoutVersion":"1.0.0"}`))
	t.file("index.json", 0o644, 0, list)
	t.dir("blobs", 0o755, 0)
	t.dir("blobs/sha256", 0o755, 0)
	for _, d := range slices.Sorted(maps.Keys(img.blobs)) {
		t.file("blobs/sha256/"+d[len("sha256:"):], 0o644, 0, img.blobs[d])
	}
	return t.close()
}

// layerOf is the file system of the image as a tar.
func layerOf(program, cas []byte, made time.Time) ([]byte, error) {
	var b bytes.Buffer
	t := archive{w: tar.NewWriter(&b), made: made}
	t.dir("data", 0o700, user)
	t.dir("etc", 0o755, 0)
	t.file("etc/group", 0o644, 0, []byte("root:x:0:\ntrapeze:x:65532:\n"))
	t.file("etc/passwd", 0o644, 0, []byte("root:x:0:0:root:/:/sbin/nologin\ntrapeze:x:65532:65532:trapeze:/data:/sbin/nologin\n"))
	t.dir("etc/ssl", 0o755, 0)
	t.dir("etc/ssl/certs", 0o755, 0)
	t.file("etc/ssl/certs/ca-certificates.crt", 0o644, 0, cas)
	t.dir("tmp", 0o1777, 0)
	t.dir("usr", 0o755, 0)
	t.dir("usr/bin", 0o755, 0)
	t.file("usr/bin/trapeze", 0o755, 0, program)
	err := t.close()
	return b.Bytes(), err
}

// archive writes a tar whose files all have one time. Errors come with close.
type archive struct {
	w    *tar.Writer
	made time.Time
	errs []error
}

func (a *archive) dir(name string, mode int64, owner int) {
	a.add(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner}, nil)
}

func (a *archive) file(name string, mode int64, owner int, text []byte) {
	a.add(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Uid: owner, Gid: owner, Size: int64(len(text))}, text)
}

func (a *archive) add(h *tar.Header, text []byte) {
	h.ModTime, h.Format = a.made, tar.FormatUSTAR
	a.errs = append(a.errs, a.w.WriteHeader(h))
	if _, err := a.w.Write(text); err != nil {
		a.errs = append(a.errs, err)
	}
}

func (a *archive) close() error { return errors.Join(append(a.errs, a.w.Close())...) }
