//go:build outside

package browser

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

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

// TestAPageOfTenThousandTasks has 10,000 live tasks on the server. What a page has is bounded. It reports when the pages are first painted, how long it takes until a
// change is seen, and how a list of all of them scrolls.
func TestAPageOfTenThousandTasks(t *testing.T) {
	d := open(t)
	d.fill(many)
	d.signIn(d.token)
	for _, path := range []string{"/", "/tasks", "/find?q=number+00001", "/inbox", "/figures"} {
		d.goTo(path)
		d.do(chromedp.Poll[chromedp.Void](`performance.getEntriesByName("first-contentful-paint").length > 0`, chromedp.WithPollingTimeout(patience)))
		d.bounded(path)
		t.Logf("%s: first paint after %.0f ms", path, eval[float64](d, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	}
	d.goTo("/find?q=number+00001") // it is one of the oldest
	d.shows("Task number 00001")

	d.goTo("/")
	d.shows("of many")
	began := time.Now()
	if _, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "This came later"}); err != nil {
		t.Fatal(err)
	}
	d.shows("This came later")
	t.Logf("a change is seen after %s", time.Since(began).Round(time.Millisecond))

	d.goTo("/tasks")
	d.do(chromedp.Evaluate[chromedp.Void](`
		window.frames_ = []; let last = performance.now();
		(function frame(now) { frames_.push(now - last); last = now; requestAnimationFrame(frame); })(last);
		(function down() { window.scrollBy(0, 600); if (document.getElementById("next")) setTimeout(down, 0); else window.down_ = true; })(); void 0`))
	whole, cancel := context.WithTimeout(d.ctx, 6*patience) // each part of the list is one request
	defer cancel()
	if err := chromedp.Do(whole, chromedp.Poll[chromedp.Void](`window.down_ === true`, chromedp.WithPollingTimeout(6*patience))); err != nil {
		d.fail(err)
	}
	if n := eval[int](d, `new Set([...document.querySelectorAll("tbody a[href^='/tasks/']")].map((a) => a.href)).size`); n != many+1 {
		t.Errorf("the list has %d tasks", n)
	}
	t.Logf("frames of the scroll: %s", eval[string](d, `(() => { const f = frames_.slice(1).sort((a, b) => a - b); const at = (q) => f[Math.trunc(q * (f.length - 1))].toFixed(0);
		return f.length + ", p50 " + at(0.5) + " ms, p95 " + at(0.95) + " ms, p99 " + at(0.99) + " ms, longest " + at(1) + " ms"; })()`))
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}
