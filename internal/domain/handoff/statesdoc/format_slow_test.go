//go:build slow

package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var released = flag.Bool("released", false, "write the events of the format of this release, which no later program may change under its number")

// TestNewEventsRaiseTheFormat compares the events with those of the release that had the same format of data directories: a program
// of that release could not read others. Before the release there is no such file.
func TestNewEventsRaiseTheFormat(t *testing.T) {
	source, err := os.ReadFile(root + "/internal/record/ledger/sqlitelog/schema.go")
	if err != nil {
		t.Fatal(err)
	}
	format := regexp.MustCompile(`(?m)^const Format = (\d+)$`).FindSubmatch(source)
	if format == nil {
		t.Fatal("sqlitelog has no Format")
	}
	page, err := events(root)
	if err != nil {
		t.Fatal(err)
	}
	file := fmt.Sprintf("testdata/format-%s.txt", format[1])
	if *released {
		if err := os.WriteFile(file, []byte(strings.Join(versions(page), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return
	}
	if more := unreadable(strings.Split(string(b), "\n"), versions(page)); err != nil || len(more) > 0 {
		t.Errorf("%v; a program of the release with format %s cannot read %q: raise sqlitelog.Format", err, format[1], more)
	}
}

// versions returns the events of a page, each with its version.
func versions(page string) (list []string) {
	for _, m := range regexp.MustCompile(`\n### (\S+)\n\nVersion (\d+)\.`).FindAllStringSubmatch(page, -1) {
		list = append(list, m[1]+" "+m[2])
	}
	slices.Sort(list)
	return list
}

// unreadable returns the events that a program with others does not have.
func unreadable(has, events []string) []string {
	return slices.DeleteFunc(slices.Clone(events), func(e string) bool { return slices.Contains(has, e) })
}

func TestAnEventThatIsNewOrHasANewVersionIsUnreadable(t *testing.T) {
	has := versions("\n### a\n\nVersion 1. A.\n\n### b\n\nVersion 1. B.\n")
	now := versions("\n### a\n\nVersion 1. A.\n\n### b\n\nVersion 2. B.\n\n### c\n\nVersion 1. C.\n")
	if got := unreadable(has, now); !slices.Equal(got, []string{"b 2", "c 1"}) {
		t.Errorf("%q", got)
	}
}
