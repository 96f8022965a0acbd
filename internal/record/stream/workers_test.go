package stream_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/stream"
)

func TestWorkersDoEveryJobOnce(t *testing.T) {
	w := stream.NewWorkers()
	done := make([]int, 500)
	var calls sync.WaitGroup
	for i := range done {
		calls.Go(func() {
			w.Run(func() {
				w.Run(func() { done[i]++ }) // a decision may need another
			})
		})
	}
	calls.Wait()
	w.Close()
	w.Close()
	w.Run(func() { done[0]++ }) // a call that outlasts its server
	for i, n := range done {
		if want := map[bool]int{true: 2, false: 1}[i == 0]; n != want {
			t.Errorf("job %d ran %d times, want %d", i, n, want)
		}
	}
}

func TestAPanicOnAWorkerIsThatOfTheCall(t *testing.T) {
	w := stream.NewWorkers()
	defer w.Close()
	for range 20 { // also on a worker that stayed
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "planted\n") || !strings.Contains(text, "workers_test.go") {
					t.Errorf("recovered %q", text)
				}
			}()
			w.Run(func() { panic("planted") })
		}()
	}
}
