package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// options say what is built.
type options struct {
	out     string // the tar
	version string
	arches  []string // GOARCH
	ca      string   // file of the CAs that the program trusts
	made    time.Time
}

func main() {
	o := options{}
	var arches, program string
	flag.StringVar(&o.out, "o", "", "file to write (default trapeze.tar)")
	flag.StringVar(&o.version, "version", "devel", "version, which is also the tag")
	flag.StringVar(&arches, "arch", "amd64,arm64", "processors, with commas")
	flag.StringVar(&o.ca, "ca", "/etc/ssl/certs/ca-certificates.crt", "file with the CAs that the program trusts")
	flag.StringVar(&program, "bill", "", "program of which only what it is made of is written, to -o, by default PROGRAM.cdx.json")
	flag.Parse()
	o.arches = strings.Split(arches, ",")
	o.out = outFile(o.out, program)
	build := func() error { return run(o) }
	if program != "" {
		build = func() error { return writeBill(o.out, program, o.version) }
	}
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// outFile is the file that is written, unless it is given: the image, or what a program is made of.
func outFile(given, program string) string {
	if program != "" {
		return cmp.Or(given, program+".cdx.json")
	}
	return cmp.Or(given, "trapeze.tar")
}

// run builds the program for each processor, and the image of them.
func run(o options) (err error) {
	if o.made, err = commitTime(); err != nil {
		return err
	}
	cas, err := os.ReadFile(o.ca)
	if err != nil {
		return fmt.Errorf("the CAs: %w (name another file with -ca)", err)
	}
	dir, err := os.MkdirTemp("", "trapeze-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	img := image{version: o.version, made: o.made}
	for _, arch := range o.arches {
		program := filepath.Join(dir, arch)
		if err := build(program, arch); err != nil {
			return err
		}
		text, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		if err := img.add(arch, text, cas); err != nil {
			return err
		}
		if err := writeBill(strings.TrimSuffix(o.out, ".tar")+"-"+arch+".cdx.json", program, o.version); err != nil {
			return err
		}
	}
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	return errors.Join(img.write(f), f.Close())
}

// build compiles the program: static, without the paths of this machine.
func build(to, arch string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, "./cmd/trapeze") //nolint:gosec,noctx // our own arguments
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// commitTime is SOURCE_DATE_EPOCH, or the time of the newest commit: what is in the image is no younger.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		b, err := exec.Command("git", "log", "-1", "--format=%ct").Output() //nolint:noctx // it takes no time
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the newest commit: %w (or set SOURCE_DATE_EPOCH)", err)
		}
		text = strings.TrimSpace(string(b))
	}
	at, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(at, 0).UTC(), err
}
