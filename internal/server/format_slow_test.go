//go:build slow

package server

import (
	"context"
	"fmt"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof/taskorder"
)

// TestADirectoryOfAnEarlierFormatIsReadAndWrittenTo opens directories with three handoffs: one of the time when entries were stored as
// their bytes, and one of the time when their frames did not say where they are.
func TestADirectoryOfAnEarlierFormatIsReadAndWrittenTo(t *testing.T) {
	t.Parallel()
	for n := 1; n < sqlitelog.Format; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) { earlierFormat(t, n) })
	}
}

// byTheRules checks that a verifier finds nothing in what the rules of any version have written.
func byTheRules(t *testing.T, dir string) {
	t.Helper()
	r, err := OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if found, err := taskorder.Check(t.Context(), r); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func earlierFormat(t *testing.T, number int) {
	dir := frozen(t, fmt.Sprintf("format-%d.db.gz", number))
	if n := format(t, dir, 0); n != number {
		t.Fatalf("the frozen directory has format %d", n)
	}
	byTheRules(t, dir)
	s := open(t, dir)
	c, err := client.New(s.URL(), token(t, s), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	page, err := c.Tasks(t.Context(), client.TaskFilter{})
	if err != nil || len(page.Tasks) != 3 {
		t.Fatalf("%d tasks, %v", len(page.Tasks), err)
	}
	for _, task := range page.Tasks {
		if got, err := c.Task(t.Context(), task.ID); err != nil || got.State != "completed" || got.Intent != "measure a handoff" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "one more"}); err != nil {
		t.Error(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := format(t, dir, 0); n != sqlitelog.Format {
		t.Errorf("written to, it has format %d", n)
	}
	s = open(t, dir)
	entries, err := s.log.Read(t.Context(), 0, 100)
	if err != nil || len(entries) < 15 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	byTheRules(t, dir)
}
