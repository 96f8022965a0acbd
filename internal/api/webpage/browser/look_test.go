//go:build outside

package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

func TestATaskSaysOnTheSpotWhyItIsWhereItIs(t *testing.T) {
	d := open(t)
	s := d.tell()
	ctx := t.Context()
	waits, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Ship it", Send: &client.SendInput{To: []string{"writer"}}})
	must2(t, func() error { return err })
	must2(t, func() error {
		_, err := admin.New(d.admin).SetHold(ctx, admin.SubjectInput{Subject: "task/" + waits.Task, Why: "the case of 2026"})
		return err
	})
	d.signIn(d.token)
	for task, says := range map[string]string{
		s.task: "analyst works on it", s.dead: "In the dead letters", strings.TrimSuffix(s.question, ".k1"): "Waits for a person of the desk operators: Is the amount approved?",
		strings.TrimSuffix(s.approval, ".k1"): "Waits for", waits.Task: "Offered to writer: not seen yet",
	} {
		d.goTo("/tasks/" + task)
		d.shows(says)
	}
	d.goTo("/tasks/" + waits.Task)
	d.shows("A legal hold is on this task")
	d.goTo("/record")
	d.shows("the case of 2026")
}

// TestAFirstVisitShowsHowToBegin: each command is marked once it has run, and the page is not loaded again.
func TestAFirstVisitShowsHowToBegin(t *testing.T) {
	d := open(t)
	d.signIn(d.token)
	d.goTo("/")
	d.shows("Nothing has happened yet")
	done := func(n int) {
		t.Helper()
		d.do(chromedp.Poll[chromedp.Void](fmt.Sprintf(`document.querySelectorAll(".begin .ran").length === %d`, n), chromedp.WithPollingTimeout(patience)))
	}
	d.do(chromedp.Evaluate[chromedp.Void](`window.kept = true`))
	if n := eval[int](d, `[...document.querySelectorAll(".begin .copy")].filter((b) => b.checkVisibility()).length`); n != 3 {
		t.Errorf("%d commands can be copied", n)
	}
	d.picture("first-visit")
	scout := d.agent("scout", client.AgentSpec{})
	done(1)
	made, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Find out why checkout is slow", Send: &client.SendInput{To: []string{"scout"}}})
	must2(t, func() error { return err })
	done(2)
	must2(t, func() error { _, err := scout.Accept(t.Context(), made.Handoff, client.AcceptInput{}); return err })
	d.do(chromedp.Poll[chromedp.Void](`!document.querySelector(".begin")`, chromedp.WithPollingTimeout(patience)))
	if !eval[bool](d, `window.kept === true`) {
		t.Error("the page was loaded again")
	}
}

func TestAnOperatorSilencesAnAlertByKeyboard(t *testing.T) {
	d := open(t)
	d.tell() // a handoff has failed, which is an alert
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.goTo("/alerts")
	d.shows("used up all their receivers")
	d.press(`input[name=reason]`, "k", "n", "o", "w", "n", kb.Enter)
	d.shows("Silenced by operator/olga")
	list, err := admin.New(d.admin).Alerts(t.Context(), admin.AlertOptions{})
	if err != nil || len(list.Silences) != 1 || list.Silences[0].Reason != "known" {
		t.Fatalf("%v: %+v", err, list.Silences)
	}
	d.press(`form[action="/alerts/end"] button`, kb.Enter)
	d.shows("The silence has ended")
	if list, err := admin.New(d.admin).Alerts(t.Context(), admin.AlertOptions{}); err != nil || len(list.Silences) != 0 {
		t.Errorf("%v: %+v", err, list.Silences)
	}
}

// TestAPersonIsNotifiedOfANewTicket: by the browser, of what is new while the page is not looked at, once; and never of what was there.
// An operator is, of the tickets of operators, and a person at a desk of those of the desk.
func TestAPersonIsNotifiedOfANewTicket(t *testing.T) {
	t.Run("operator", func(t *testing.T) { notified(t, client.RoleOperator, "") })
	t.Run("person at a desk", func(t *testing.T) { notified(t, client.RoleAgent, "billing") })
}

func notified(t *testing.T, role client.Role, desk string) {
	d := open(t)
	ctx := t.Context()
	worker := d.agent("worker", client.AgentSpec{})
	if desk != "" {
		d.agent("olga", client.AgentSpec{Kind: "human", Capabilities: []string{desk}})
	}
	ask := func(question string) {
		t.Helper()
		made, err := worker.CreateTask(ctx, client.CreateInput{Intent: "Refund it", Start: true})
		must2(t, func() error { return err })
		must2(t, func() error {
			_, err := worker.Ask(ctx, made.Task, client.AskInput{Epoch: 1, Question: question, Desk: desk})
			return err
		})
	}
	// The page of a browser without a window is never hidden, and no desktop shows what it says.
	d.do(func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `window.told = []; window.Notification = class {
			static permission = localStorage.granted ? "granted" : "default"; static async requestPermission() { return this.permission = "granted"; } };
			ServiceWorkerRegistration.prototype.showNotification = async (title, of) => { told.push(title + " | " + of.body + " | " + of.data.path.replace(/task_\w+/, "TASK")); };`})
		return chromedp.Void{}, err
	})
	ask("This was there before?")
	d.signIn(d.tokenOf(role, "olga"))
	d.goTo("/inbox")
	d.press(`#notify`, kb.Enter)
	following := `source?.readyState === EventSource.OPEN && navigator.serviceWorker.getRegistration("/static/").then((r) => !!r?.active)`
	d.until(`document.getElementById("notify").hidden && leads`)
	d.until(following)
	d.do(chromedp.Evaluate[chromedp.Void](`Object.defineProperty(document, "hidden", {get: () => true}); sight();
		navigator.locks.request("sight", {mode: "shared"}, () => new Promise((done) => { window.away = done; })); void 0`)) // another page has the inbox in sight
	ask("Is this in sight?")
	d.shows("Is this in sight?")
	d.do(chromedp.Evaluate[chromedp.Void](`away(); void 0`))
	ask("Is this new?")
	d.until(`told.length > 0`)
	ask("And this?")
	d.until(`told.length > 1`)
	notice := func(question string) string { return "Trapeze: a ticket waits | " + question + " | /tickets/TASK.k1" }
	if told := eval[string](d, `told.join("; ")`); told != notice("Is this new?")+"; "+notice("And this?") {
		t.Errorf("the person is told %q", told)
	}
	d.do(chromedp.Evaluate[chromedp.Void](`localStorage.granted = "yes"`))
	for _, page := range []string{"/find", "/tasks"} { // following nothing, and everything
		d.goTo(page)
		d.until(following)
		ask("On " + page + "?")
		d.until(`told.length > 0`)
		if told := eval[string](d, `told.join("; ")`); told != notice("On "+page+"?") {
			t.Errorf("on %s the person is told %q", page, told)
		}
	}
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}

// A click on a notice opens the ticket. A browser that has no notices says so.
func TestANoticeLeadsToItsTicket(t *testing.T) {
	d := open(t)
	d.signIn(d.token)
	d.goTo("/inbox")
	program := eval[string](d, `fetch("/static/worker.js").then((r) => r.text())`)
	opened := eval[string](d, `(() => { const did = []; let click; ((self) => {`+program+`})({addEventListener: (name, f) => { if (name === "notificationclick") click = f; }, clients: {openWindow: (path) => did.push("opens " + path)}});
		click({notification: {data: {path: "/tickets/task_1.k1"}, close: () => did.push("closes")}, waitUntil: () => {}}); return did.join(); })()`)
	if opened != "closes,opens /tickets/task_1.k1" {
		t.Errorf("a click %q", opened)
	}
	ended := eval[string](d, `(async () => { const did = [], of = (as) => ({data: {as}, close: () => did.push("ends that of " + as)});
		navigator.serviceWorker.getRegistration = async () => ({getNotifications: async () => [of("default/operator/olga"), of(main().dataset.as)]}); await forget(); return did.join(); })()`)
	if ended != "ends that of default/operator/olga" {
		t.Errorf("after a sign-in as another: %q", ended)
	}
	d.do(chromedp.Evaluate[chromedp.Void](`delete window.Notification; offerNotices(); void 0`))
	d.shows("This browser has no notifications for this page.")
}

func TestAConversationIsFoundByItsWordsAndRead(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.goTo("/find?q=order")
	d.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`a[href="/conversations/%s"]`, s.talk))))
	d.shows("Where is my order?")
}

// TestAReceiptIsSaved: the page of a handoff that is over has it, as a file.
func TestAReceiptIsSaved(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	d.goTo("/tasks/" + s.task + "/hops/1")
	text := eval[string](d, `fetch(document.querySelector("a[href$='/receipt']").href).then((r) => r.text())`)
	if !strings.HasPrefix(text, "c2sp.org/tlog-proof") {
		t.Errorf("the receipt begins with %.60q", text)
	}
}

// TestAPageWaitsWhileOthersHaveAllStreams: one person has as many live pages open as may be; one more says so, and follows when it can.
func TestAPageWaitsWhileOthersHaveAllStreams(t *testing.T) {
	d := open(t)
	d.agent("scout", client.AgentSpec{})
	d.signIn(d.token)
	d.goTo("/find") // without a search it follows nothing
	ctx, end := context.WithCancel(t.Context())
	defer end()
	jar, err := cookiejar.New(nil)
	must2(t, func() error { return err })
	other := &http.Client{Jar: jar}
	get := func(ctx context.Context, path string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.srv.URL()+path, nil)
		must2(t, func() error { return err })
		res, err := other.Do(req)
		must2(t, func() error { return err })
		return res
	}
	get(ctx, d.link(d.token)).Body.Close()
	for n := range 20 { // more than there may be
		res := get(ctx, "/live?task=*")
		t.Cleanup(func() { res.Body.Close() })
		b := make([]byte, 64)
		if read, _ := res.Body.Read(b); read == 0 {
			t.Fatalf("stream %d has no answer", n)
		}
	}
	d.goTo("/")
	d.do(chromedp.Poll[chromedp.Void](`document.getElementById("connection").textContent.includes("as many live pages open as you may")`, chromedp.WithPollingTimeout(patience)))
	end()
	whole, cancel := context.WithTimeout(d.ctx, 3*patience) // it looks again after 15 seconds
	defer cancel()
	if err := chromedp.Do(whole, chromedp.Poll[chromedp.Void](`document.getElementById("connection").hidden`, chromedp.WithPollingTimeout(2*patience))); err != nil {
		d.fail(err)
	}
	must2(t, func() error {
		_, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "This came after the pause"})
		return err
	})
	d.shows("This came after the pause")
}

// A change keeps what the reader has opened, typed, chosen and scrolled to.
func TestAChangeKeepsWhatTheReaderHasOpenedAndTyped(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	worker := d.agent("worker", client.AgentSpec{})
	made, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Refund order 7", Send: &client.SendInput{To: []string{"worker"}}})
	if err != nil {
		t.Fatal(err)
	}
	must2(t, func() error { _, err := worker.Accept(ctx, made.Handoff, client.AcceptInput{}); return err })
	d.signIn(d.token)
	d.goTo("/tasks/" + made.Task)
	opened := eval[int](d, `{
		document.querySelectorAll("main details").forEach((e) => { e.open = true; });
		document.querySelector("#takeover ~ form [name=to]").value = "somebody";
		document.getElementById("hops").scrollIntoView();
		document.getSelection().selectAllChildren(document.querySelector("h1"));
		document.querySelector("#hops ~ .wide a").focus({preventScroll: true});
		document.querySelectorAll("main details[open]").length;
	}`)
	if opened < 4 {
		t.Fatalf("%d parts are open: the test proves little", opened)
	}
	if eval[float64](d, `scrollY`) == 0 {
		t.Fatal("the page does not scroll: the test proves little")
	}
	at := eval[float64](d, `document.getElementById("hops").getBoundingClientRect().top`)
	must2(t, func() error {
		_, err := worker.Progress(ctx, made.Task, client.ProgressInput{Epoch: 1, Note: "half of it"})
		return err
	})
	d.shows("half of it")
	if n := eval[int](d, `document.querySelectorAll("main details[open]").length`); n != opened {
		t.Errorf("%d of %d parts are open", n, opened)
	}
	if now := eval[float64](d, `document.getElementById("hops").getBoundingClientRect().top`); now < at-1 || now > at+1 {
		t.Errorf("what was at %v is at %v", at, now)
	}
	if typed := eval[string](d, `document.querySelector("#takeover ~ form [name=to]").value`); typed != "somebody" {
		t.Errorf("%q is left of what was typed", typed)
	}
	if chosen := eval[string](d, `document.getSelection().toString()`); chosen != "Refund order 7" {
		t.Errorf("%q is left of what was chosen", chosen)
	}
	if !eval[bool](d, `document.activeElement.matches("#hops ~ .wide a")`) {
		t.Error("what had the focus has it no more")
	}
}

// Enter in the note of an answer chooses no option, and the note goes with the option that is chosen. A note that comes too late stays.
func TestANoteGoesWithTheAnswerOrStays(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	note := func(text string) {
		d.do(chromedp.KeyEvent("r"))
		d.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.value = ""`)) // the protocol types the key, whatever the page does with it
		d.do(chromedp.KeyEvent(text), chromedp.KeyEvent(kb.Enter))
	}
	d.goTo("/tickets/" + s.question)
	note("as agreed")
	if k, err := d.admin.Ticket(t.Context(), s.question, 0); err != nil || !k.Open() {
		t.Errorf("%v: %+v", err, k)
	}
	d.press(`button[data-digit="1"]`, kb.Enter)
	d.shows("Answered.")
	if k, err := d.admin.Ticket(t.Context(), s.question, 0); err != nil || k.Answer != "no" || k.Detail != "as agreed" {
		t.Errorf("%v: %+v", err, k)
	}
	task, _, _ := strings.Cut(s.question, ".")
	must2(t, func() error {
		_, err := d.again("writer").Ask(t.Context(), task, client.AskInput{Epoch: 1, Question: "And the fee?", Options: []string{"yes", "no"}})
		return err
	})
	second := task + ".k2"
	d.goTo("/tickets/" + second)
	d.do(chromedp.Evaluate[chromedp.Void](`source.close()`))
	must2(t, func() error {
		_, err := d.admin.Answer(t.Context(), second, client.AnswerInput{Answer: "yes"})
		return err
	})
	note("never")
	d.press(`button[data-digit="1"]`, kb.Enter)
	d.shows("with the answer “yes”")
	d.shows("never")
	if !eval[bool](d, `document.activeElement.matches(".problem")`) {
		t.Error("the error is not where the reader is")
	}
}

// A page whose session ended says so, and keeps what was typed; it goes on after the person has signed in again elsewhere.
func TestASessionThatEndsElsewhereKeepsWhatIsTyped(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	d.goTo("/tasks/" + s.task)
	d.do(chromedp.Poll[chromedp.Void](`source?.readyState === EventSource.OPEN`, chromedp.WithPollingTimeout(patience)))
	field := `document.querySelector("form[action$='/cancel'] [name=detail]")`
	d.do(chromedp.Evaluate[chromedp.Void](field + `.closest("details")?.setAttribute("open", ""); ` + field + `.value = "It is not needed"; void 0`))
	d.do(chromedp.Evaluate[chromedp.Void](`fetch("/sign-out", {method: "POST", body: new URLSearchParams({as: main().dataset.as})}); void 0`))
	ended := `document.querySelector("#connection:not([hidden]) a[target=_blank][href^='/sign-in?next=%2Ftasks%2F']")?.textContent === "Sign in again"`
	d.do(chromedp.Poll[chromedp.Void](ended, chromedp.WithPollingTimeout(patience)))
	d.do(chromedp.Evaluate[chromedp.Void](`follow(); void 0`)) // a stream that is refused is no server that is away
	d.do(chromedp.Poll[chromedp.Void](`source.readyState === EventSource.CLOSED && `+ended, chromedp.WithPollingTimeout(patience)))
	d.do(chromedp.Evaluate[chromedp.Void](`refresh(); void 0`))
	d.do(chromedp.Poll[chromedp.Void](`!fetching`, chromedp.WithPollingTimeout(patience)))
	if got := eval[string](d, field+`?.value || "gone"`); got != "It is not needed" {
		t.Errorf("what was typed is %q", got)
	}
	d.do(chromedp.Evaluate[chromedp.Void](`fetch(` + strconv.Quote(d.link(d.token)) + `).then(follow); void 0`)) // as in another tab
	d.do(chromedp.Poll[chromedp.Void](`document.getElementById("connection").hidden && source.readyState === EventSource.OPEN`, chromedp.WithPollingTimeout(patience)))
	if got := eval[string](d, field+`?.value || "gone"`); got != "It is not needed" {
		t.Errorf("what was typed is %q", got)
	}
}
