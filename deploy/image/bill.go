package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
)

// bill is a list of what a program is made of: CycloneDX 1.6, as far as it is used.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl,omitempty"`
	// Properties has the checksum of go.sum, which is none of the kinds that CycloneDX has a field for.
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// writeBill writes the modules of a program, and the standard library, as the program itself has them.
func writeBill(to, program, version string) error {
	text, err := exec.Command("go", "version", "-m", "-json", program).Output() //nolint:gosec,noctx // the program that was just built
	if err != nil {
		return err
	}
	var info *debug.BuildInfo
	if err := json.Unmarshal(text, &info); err != nil {
		return err
	}
	b, err := json.MarshalIndent(billOf(info, version), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(b, '\n'), 0o644) //nolint:gosec // it is for everybody
}

func billOf(info *debug.BuildInfo, version string) bill {
	main := component{Type: "application", Name: info.Main.Path, Version: version}
	main.URL = "pkg:golang/" + main.Name + "@" + version
	main.Ref = main.URL
	out := bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{main}}
	out.Components = append(out.Components, library("std", strings.TrimPrefix(info.GoVersion, "go"), ""))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		out.Components = append(out.Components, library(m.Path, m.Version, m.Sum))
	}
	slices.SortFunc(out.Components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	return out
}

func library(path, version, sum string) component {
	c := component{Type: "library", Name: path, Version: version, URL: "pkg:golang/" + path + "@" + version}
	c.Ref = c.URL
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
