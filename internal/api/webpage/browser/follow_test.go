//go:build outside

package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/trapezehq/trapeze/client"
)

// following waits until the page follows changes.
func (d *desk) following() {
	d.t.Helper()
	d.until(`source?.readyState === EventSource.OPEN`)
}

// A list that a person has lengthened by scrolling follows changes in each of its parts, and keeps its place, what is chosen and what is typed.
func TestALongListFollowsAndKeepsItsPlace(t *testing.T) {
	d := open(t)
	d.fill(250)
	d.signIn(d.token)
	d.goTo("/tasks")
	d.following()
	for n := 2; n <= 3; n++ {
		d.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("next").scrollIntoView(); void 0`))
		d.until(fmt.Sprintf(`document.querySelectorAll(".chunk").length === %d`, n))
	}
	ids := eval[[]string](d, `(() => {
		document.querySelector("#filter [name=owner]").value = "somebody";
		const at = rows()[210], ids = [210, 211, 150, 240].map((n) => rows()[n].id.slice(4));
		at.querySelector("input").checked = true;
		at.scrollIntoView({block: "center", behavior: "instant"});
		getSelection().selectAllChildren(at.querySelector("a"));
		window.kept = at; window.text = String(getSelection()); window.top_ = at.getBoundingClientRect().top;
		return ids;
	})()`)
	row := func(id string) string { return fmt.Sprintf(`rows().find((r) => r.id === "row-%s")`, id) } // in the document or put away
	for n, id := range []string{ids[1], ids[2]} {
		must2(t, func() error {
			_, err := d.admin.Cancel(t.Context(), id, client.CancelInput{Detail: "not needed"})
			return err
		})
		must2(t, func() error {
			_, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprint("This came later: ", n)})
			return err
		})
		d.until(fmt.Sprintf(`rows()[%d].textContent.includes("This came later: %d")`, 0, n))
		if n == 0 {
			d.until(row(id) + `.innerText.includes("cancelled") && !` + row(id) + `.querySelector("input")`) // it is in sight
		}
	}
	whole := `const all = rows().map((r) => r.id); const sorted = [...new Set(all)].sort().reverse();`
	got := eval[string](d, `(() => { `+whole+` return [all.join() === sorted.join(), all.length, String(getSelection()) === text && text, kept.isConnected && kept.querySelector("input").checked,
		Math.abs(kept.getBoundingClientRect().top - top_) < 2, document.querySelector("#filter [name=owner]").value, document.querySelectorAll(".chunk").length].join(" | "); })()`)
	if want := "true | 252 | " + eval[string](d, `text`) + " | true | true | somebody | 3"; got != want || eval[string](d, `text`) == "" {
		t.Errorf("%q, not %q", got, want)
	}
	far := row(ids[2]) + `.querySelector("time")`
	d.do(chromedp.Evaluate[chromedp.Void](`scrollTo({top: 0, behavior: "instant"}); void 0`))
	d.until(`!` + far + `.isConnected`)
	d.printsAll()
	d.do(chromedp.Evaluate[chromedp.Void](`for (const r of rows()) r.querySelector("time").textContent = "?"; tick(); void 0`))
	if got := eval[string](d, `[`+far+`, rows()[0].querySelector("time")].map((t) => t.textContent === "?").join()`); got != "true,false" {
		t.Errorf("times that are out of sight, and in sight, stay as they were: %s", got)
	}
	d.do(chromedp.Evaluate[chromedp.Void](`chunks()[1].scrollIntoView({block: "center", behavior: "instant"}); void 0`)) // it was out of sight
	d.until(far + `.isConnected && ` + far + `.textContent !== "?"`)
	d.until(row(ids[2]) + `.innerText.includes("cancelled")`)
	d.goTo("/tasks?live=1")
	d.following()
	d.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("next").scrollIntoView(); void 0`))
	d.until(`document.querySelectorAll(".chunk").length === 2`)
	must2(t, func() error {
		_, err := d.admin.Cancel(t.Context(), ids[3], client.CancelInput{Detail: "not needed"})
		return err
	})
	first := strings.TrimPrefix(eval[string](d, `rows()[5].id`), "row-")
	d.do(chromedp.Evaluate[chromedp.Void](`rows()[100].querySelector("input").checked = true; window.kept = rows()[100].id; void 0`))
	must2(t, func() error {
		_, err := d.admin.Cancel(t.Context(), first, client.CancelInput{Detail: "not needed"})
		return err
	})
	d.until(`!` + row(first) + ` && rows()[99].id === kept`) // it leaves the first part, and another comes into it
	if got := eval[string](d, `(() => { `+whole+` return [all.join() === sorted.join(), boxes().filter((b) => b.checked).length, document.getElementById(kept).querySelector("input").checked].join(" | "); })()`); got != "true | 1 | true" {
		t.Error(got)
	}
	d.keepsARow()
	d.readsOn()
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}

// printsAll checks that a list of which rows are put away is printed with all of them.
func (d *desk) printsAll() {
	d.t.Helper()
	d.do(chromedp.Evaluate[chromedp.Void](`window.whole_ = () => rows().every((r) => r.isConnected);
		addEventListener("beforeprint", () => { tidy(); window.printed_ = whole_(); }); void 0`))
	d.do(chromedp.Func(func(ctx context.Context, of *chromedp.Target) error {
		_, err := chromedp.PrintToPDF()(ctx, of)
		return err
	}))
	if !eval[bool](d, `printed_`) {
		d.t.Error("not all rows are in the document while it is printed")
	}
	d.until(`!whole_()`)
}

// readsOn checks that a part of a list that cannot be read is tried again, which the page says, and that each is read once, however often the page was updated before.
func (d *desk) readsOn() {
	d.t.Helper()
	d.goTo("/tasks")
	d.following()
	d.do(chromedp.Evaluate[chromedp.Void](`window.asked_ = 0; window.said_ = ""; {
		const plain = window.fetch;
		window.fetch = (...of) => String(of[0]).includes("after=") && asked_++ < 1 ? Promise.reject(new TypeError("away")) : plain(...of);
		new MutationObserver(() => { said_ += document.getElementById("later")?.textContent || ""; }).observe(document.body, {subtree: true, childList: true, characterData: true});
	} void 0`))
	for n := range 3 {
		must2(d.t, func() error {
			_, err := d.admin.CreateTask(d.t.Context(), client.CreateInput{Intent: fmt.Sprint("Before reading on: ", n)})
			return err
		})
		d.shows(fmt.Sprint("Before reading on: ", n))
	}
	d.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("next").scrollIntoView(); void 0`))
	d.until(`chunks().length === 2`)
	if got := eval[string](d, `"" + asked_ + said_.includes("cannot be read on. It is tried again in a second") + document.getElementById("later").textContent`); got != "2true" {
		d.t.Errorf("a part that failed once is read %s", got)
	}
}

// keepsARow checks that a row of a list keeps its place in the page, and what is selected of it, when another comes before it.
func (d *desk) keepsARow() {
	d.t.Helper()
	d.agent("mary", client.AgentSpec{})
	d.goTo("/")
	d.following()
	d.do(chromedp.Evaluate[chromedp.Void](`window.kept = document.querySelector("#agents ~ .wide tbody tr"); getSelection().selectAllChildren(kept); void 0`))
	d.agent("anna", client.AgentSpec{})
	d.until(`document.querySelectorAll("#agents ~ .wide tbody tr").length === 2`)
	if got := eval[string](d, `[kept.isConnected, kept.querySelector("a").textContent, String(getSelection()).startsWith("mary")].join()`); got != "true,mary,true" {
		d.t.Errorf("an agent that comes before another takes its row: %s", got)
	}
}

// However much changes, a page takes at most a fifth of the time to fetch itself: a search reads the content of many tasks. Once nothing has changed for a while, a change is fetched at once.
func TestAPageThatIsSlowToFetchIsFetchedLessOften(t *testing.T) {
	d := open(t)
	d.signIn(d.token)
	d.goTo("/find?q=walrus")
	d.following()
	d.do(chromedp.Evaluate[chromedp.Void](`window.fetched = []; window.told = 0;
		const plain = window.fetch;
		window.fetch = async (...of) => {
			const from = performance.now(), answer = await plain(...of);
			await new Promise((done) => setTimeout(done, 250));
			fetched.push([from, performance.now()]);
			return answer;
		};
		source.addEventListener("change", () => { told = performance.now(); }); void 0`))
	feed := func(n int) {
		must2(t, func() error {
			_, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprintf("Feed walrus %d.", n)})
			return err
		})
	}
	for n, end := 0, time.Now().Add(patience); eval[int](d, `fetched.length`) < 4; n++ {
		if time.Now().After(end) {
			t.Fatal("the page does not follow")
		}
		feed(n)
		time.Sleep(20 * time.Millisecond)
	}
	for i, of := range eval[[][]float64](d, `fetched.slice(1).map(([from], i) => [from - fetched[i][1], fetched[i][1] - fetched[i][0]])`) {
		if pause, took := of[0], of[1]; pause < min(3.9*took, 14_000) { // it is at most 15 seconds
			t.Errorf("fetch %d begins %.0f ms after the one before, which took %.0f ms, not 4 times as much", i+1, pause, took)
		}
	}
	d.until(`!fetching && !again`)
	d.do(chromedp.Evaluate[chromedp.Void](`fetched.length = 0; void 0`))
	feed(1_000_000)
	d.shows("Feed walrus 1000000.")
	if late := eval[float64](d, `fetched[0][0] - told`); late > 1000 {
		t.Errorf("the page fetches itself %.0f ms after the change that it is told of", late)
	}
}
