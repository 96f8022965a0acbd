package figure_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// BenchmarkTally counts whole handoffs, each with all its entries.
func BenchmarkTally(b *testing.B) {
	r := newRecord(b)
	for n := range b.N {
		r.gets(fmt.Sprint("task_06h28t5s1xzq8j47aqyvdjrr", n), "lead", "coder", time.Duration(n)*time.Millisecond, event.Finished{Agent: "coder"})
	}
	tally := figure.NewTally(figure.Options{})
	b.ReportAllocs()
	b.ResetTimer()
	if err := tally.Add(r.entries); err != nil {
		b.Fatal(err)
	}
}
