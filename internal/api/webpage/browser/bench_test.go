//go:build outside

package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/trapezehq/trapeze/client"
)

// painted waits until something of a page was painted.
var painted = chromedp.Poll[chromedp.Void](`performance.getEntriesByName("first-contentful-paint").length > 0`, chromedp.WithPollingTimeout(patience))

// scroll goes down to the end of a list, some pixels a frame, and returns the times between frames, in milliseconds.
func (d *desk) scroll(pixels int) []float64 {
	d.t.Helper()
	d.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`window.frames_ = []; window.down_ = false; {
		let last = performance.now();
		requestAnimationFrame(function frame(now) {
			frames_.push(now - last);
			last = now;
			window.scrollBy(0, %d);
			if (document.getElementById("next") || scrollY + innerHeight < document.documentElement.scrollHeight - 1) requestAnimationFrame(frame);
			else window.down_ = true;
		});
	} void 0`, pixels)))
	whole, cancel := context.WithTimeout(d.ctx, 9*patience) // each part of the list is one request
	defer cancel()
	if err := chromedp.Do(whole, chromedp.Poll[chromedp.Void](`window.down_`, chromedp.WithPollingTimeout(9*patience))); err != nil {
		d.fail(err)
	}
	return eval[[]float64](d, `frames_.slice(1)`) // the first is from here to the next frame
}

// seen is how long it takes from before a change until a frame with a text of it was painted, in milliseconds.
func (d *desk) seen(text string, change func()) float64 {
	d.t.Helper()
	d.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`window.seen_ = 0; (function look() {
		if ([...document.querySelectorAll("#newest tr, main li")].slice(0, 200).some((e) => e.textContent.includes(%q))) requestAnimationFrame(() => setTimeout(() => { window.seen_ = Date.now(); }));
		else setTimeout(look, 5);
	})(); void 0`, text)))
	began := time.Now()
	change()
	d.do(chromedp.Poll[chromedp.Void](`window.seen_ > 0`, chromedp.WithPollingTimeout(patience)))
	return eval[float64](d, `window.seen_`) - float64(began.UnixMicro())/1000
}

// plain serves a table of as many rows as there are tasks, without styles, and adds a row to it when told: what a browser can do with as many rows at best.
func plain(b *testing.B) (url string, add func(text string)) {
	var shown atomic.Pointer[chan string] // of the page that was loaded last: the stream of one before may not have ended yet
	rows := http.NewServeMux()
	rows.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		texts := make(chan string)
		shown.Store(&texts)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>plain</title><main id="main"><table id="newest"><tbody>`)
		for i := range many {
			fmt.Fprintf(w, `<tr><td><a href="/tasks/%d">Task number %05d of many, with a sentence as people write it</a><td>pending<td>–<td>admin/local<td>normal<td>0<td>1 minute ago</tr>`, i, i)
		}
		fmt.Fprint(w, `</tbody></table></main><script>new EventSource("/added").onmessage = (e) => { const row = document.querySelector("tbody").insertRow(0); row.insertCell().textContent = e.data; }</script>`)
	})
	rows.HandleFunc("GET /added", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		texts := *shown.Load()
		for {
			select {
			case text := <-texts:
				fmt.Fprintf(w, "data: %s\n\n", text)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	srv := httptest.NewServer(rows)
	b.Cleanup(srv.CloseClientConnections)
	return srv.URL + "/", func(text string) {
		select {
		case *shown.Load() <- text:
		case <-time.After(patience):
			b.Fatal("the plain page does not follow")
		}
	}
}

// took is what was measured, by name and unit.
type took map[string][]float64

func (m took) note(name string, v ...float64) { m[name] = append(m[name], v...) }

// report reports medians, the worst value, and how many frames were long.
func (m took) report(b *testing.B) {
	for name, all := range m {
		slices.Sort(all)
		at := func(q float64) float64 { return all[int(q*float64(len(all)-1))] }
		over := func(ms float64) float64 {
			return float64(len(slices.DeleteFunc(slices.Clone(all), func(v float64) bool { return v <= ms })))
		}
		if !strings.HasSuffix(name, "frames") {
			b.ReportMetric(at(0.5), name+"-p50-ms")
			b.ReportMetric(at(1), name+"-max-ms")
			continue
		}
		b.ReportMetric(float64(len(all))/float64(b.N), name+"/op")
		b.ReportMetric(at(0.5), name+"-p50-ms")
		b.ReportMetric(at(0.99), name+"-p99-ms")
		b.ReportMetric(at(1), name+"-max-ms")
		b.ReportMetric(over(50)/float64(b.N), name+"-over-50-ms/op")
		b.ReportMetric(over(100)/float64(b.N), name+"-over-100-ms/op")
	}
}

// BenchmarkTenThousandTasks measures the page with 10,000 live tasks: when it is first painted, how long it takes until a change is seen, and the frames of a scroll
// through the list of all of them; and the same of a plain table of 10,000 rows, in the same browser.
func BenchmarkTenThousandTasks(b *testing.B) {
	d := open(b)
	d.fill(many)
	d.signIn(d.token)
	table, add := plain(b)
	m, n := took{}, 0
	create := func() {
		n++
		if _, err := d.admin.CreateTask(b.Context(), client.CreateInput{Intent: fmt.Sprintf("Came later, as number %d", n)}); err != nil {
			b.Fatal(err)
		}
	}
	later := func() string { return fmt.Sprintf("Came later, as number %d", n+1) }
	paint := func(name string) {
		d.do(painted)
		m.note(name+"-paint", eval[float64](d, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	}
	for b.Loop() {
		for _, p := range [][2]string{{"find", "/find?q=number+00001"}, {"inbox", "/inbox"}, {"figures", "/figures"}, {"overview", "/"}} {
			d.goTo(p[1])
			paint(p[0])
		}
		d.following()
		m.note("overview-update", d.seen(later(), create))
		d.goTo("/tasks")
		paint("list")
		m.note("list-frames", d.scroll(600)...)
		d.do(chromedp.Evaluate[chromedp.Void](`window.scrollTo(0, 0)`))
		d.following()
		m.note("list-update", d.seen(later(), create))

		d.do(chromedp.Navigate(table), chromedp.WaitReady(chromedp.CSS(`#main`)))
		paint("plain")
		m.note("plain-frames", d.scroll(600)...)
		d.do(chromedp.Evaluate[chromedp.Void](`window.scrollTo(0, 0)`))
		m.note("plain-update", d.seen("Added", func() { add("Added") }))
	}
	m.report(b)
}
