//go:build outside

package browser

import (
	"fmt"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/trapezehq/trapeze/client"
)

// many is how many tasks are stored.
const many = 10_000

// fill stores tasks, from some clients at once.
func (d *desk) fill(n int) {
	d.t.Helper()
	numbers, failed := make(chan int), make(chan error, 16)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := range numbers {
				if _, err := d.admin.CreateTask(d.t.Context(), client.CreateInput{Intent: fmt.Sprintf("Task number %05d of many, with a sentence as people write it", i)}); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for i := range n {
		numbers <- i
	}
	close(numbers)
	all.Wait()
	select {
	case err := <-failed:
		d.t.Fatal(err)
	default:
	}
}

// Bounds of what a browser gets of a page, however much is stored.
const (
	maxNodes = 3000
	maxBytes = 200 << 10
	maxShift = 0.1 // as browsers count it: what moves while the page loads, as a part of the window
)

// bounded checks what makes a page quick, without a clock.
func (d *desk) bounded(path string) {
	d.t.Helper()
	got := eval[[]float64](d, `new Promise((done) => {
		let shift = 0;
		new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) shift += e.value; }).observe({type: "layout-shift", buffered: true});
		requestAnimationFrame(() => requestAnimationFrame(() => done([document.querySelectorAll("*").length, performance.getEntriesByType("navigation")[0].decodedBodySize, shift])));
	})`)
	d.t.Logf("%s: %.0f nodes, %.0f bytes, moved by %.3f", path, got[0], got[1], got[2])
	if got[0] > maxNodes || got[1] > maxBytes || got[2] > maxShift {
		d.t.Errorf("%s has %.0f nodes and %.0f bytes, and moves by %.3f", path, got[0], got[1], got[2])
	}
}

// TestAPageOfTenThousandTasks has 10,000 live tasks on the server. What a page has is bounded, an old task is found, a change is shown, and a list goes on until it has
// all of them. How long that takes: BenchmarkTenThousandTasks.
func TestAPageOfTenThousandTasks(t *testing.T) {
	d := open(t)
	d.fill(many)
	d.signIn(d.token)
	for _, path := range []string{"/", "/tasks", "/find?q=number+00001", "/inbox", "/figures"} {
		d.goTo(path)
		d.do(painted)
		d.bounded(path)
	}
	d.goTo("/find?q=number+00001") // it is one of the oldest
	d.shows("Task number 00001")

	d.goTo("/")
	d.shows("of many")
	if _, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "This came later"}); err != nil {
		t.Fatal(err)
	}
	d.shows("This came later")

	d.goTo("/tasks")
	d.scroll(2400)
	if n := eval[int](d, `new Set(rows().map((r) => r.querySelector("a[href^='/tasks/']").href)).size`); n != many+1 {
		t.Errorf("the list has %d tasks", n)
	}
	held := func(at string, rows int) {
		t.Helper()
		if n := eval[int](d, `document.querySelectorAll("tbody tr").length`); n > rows {
			t.Errorf("%s, the document has %d rows", at, n)
		}
	}
	held("at the end", 600)
	d.do(chromedp.Evaluate[chromedp.Void](`scrollTo({top: document.documentElement.scrollHeight / 2, behavior: "instant"}); void 0`))
	d.until(`document.elementFromPoint(300, 400)?.closest("tr[id^=row-]")`) // it is brought back
	held("in the middle", 600)
	d.following()
	if _, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "This came last"}); err != nil {
		t.Fatal(err)
	}
	d.until(`rows()[0].textContent.includes("This came last")`)
	if n := eval[int](d, `new Set(rows().map((r) => r.id)).size`); n != many+2 {
		t.Errorf("after an update the list has %d tasks", n)
	}
	held("after an update", 600)
	d.do(chromedp.Click(chromedp.CSS(`input.all`)))
	if got := eval[string](d, `new FormData(document.getElementById("several").form).getAll("task").length + document.querySelector("output.count").textContent`); got != fmt.Sprintf("500500 of %d are chosen; at most 500 are cancelled at once", many+2) {
		t.Errorf("all that are chosen, put away or not: %s", got)
	}
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}
