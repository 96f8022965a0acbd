//go:build outside

package browser

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trapezehq/trapeze/client"
)

// until waits for an expression to be true in the page.
func (d *desk) until(expression string) {
	d.t.Helper()
	d.do(chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience)))
}

// While somebody types, the rest of the page goes on. A ticket that another closes meanwhile keeps what was typed, says who did it, and sends nothing.
func TestWhatIsTypedStaysWhenAnotherClosesTheTicket(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	worker := d.agent("worker", client.AgentSpec{})
	ask := func(question string) string {
		t.Helper()
		made, err := worker.CreateTask(ctx, client.CreateInput{Intent: "About: " + question, Start: true})
		must2(t, func() error { return err })
		must2(t, func() error {
			_, err := worker.Ask(ctx, made.Task, client.AskInput{Epoch: 1, Question: question})
			return err
		})
		return made.Task + ".k1"
	}
	for _, page := range []string{"inbox", "ticket"} {
		t.Run(page, func(t *testing.T) {
			ticket := ask("Which one, on the " + page + "?")
			d.signIn(d.token)
			if page == "inbox" {
				d.inbox()
			} else {
				d.goTo("/tickets/" + ticket)
			}
			d.until(`source?.readyState === EventSource.OPEN`)
			field := fmt.Sprintf(`document.getElementById(%q)`, "answer-"+ticket)
			d.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.getElementById(%q).focus()`, "ticket-"+ticket)))
			d.until(field + `.checkVisibility({visibilityProperty: true})`)
			d.do(chromedp.Evaluate[chromedp.Void](field+`.focus()`), chromedp.KeyEvent("the blue"))
			kept := func(text string) {
				t.Helper()
				if got := eval[string](d, field+`?.value + (document.activeElement === `+field+` ? "" : ", without the cursor")`); got != text {
					t.Errorf("the field has %q, not %q", got, text)
				}
			}
			if page == "inbox" {
				ask("Is this new?")
				d.shows("Is this new?")
				kept("the blue")
			}
			must2(t, func() error {
				_, err := d.admin.Answer(ctx, ticket, client.AnswerInput{Answer: "the red one"})
				return err
			})
			d.shows("The ticket is answered by admin/local, with the answer “the red one”. What you have written stays here")
			d.do(chromedp.KeyEvent(" one"))
			kept("the blue one")
			d.do(chromedp.KeyEvent(kb.Enter)) // sends nothing
			kept("the blue one")
			if got := eval[string](d, `written(document.querySelector(".gone").parentElement)`); got != "the blue one" {
				t.Errorf("to be copied is %q", got)
			}
			d.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); refresh(); void 0`))
			d.until(`!fetching`)
			if got := eval[string](d, field+`.value`); got != "the blue one" {
				t.Errorf("after the field was left it has %q", got)
			}
			if n := eval[int](d, `document.querySelectorAll(".gone").length`); n != 1 {
				t.Errorf("it is said %d times", n)
			}
			d.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".gone button")].find((b) => b.textContent === "Put it away").click()`))
			if eval[bool](d, field+` !== null`) {
				t.Error("what was put away is still there")
			}
		})
	}
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}

// A ticket that another has claimed can be answered again once it is released.
func TestWhatIsTypedCanBeSentOnceTheTicketIsReleased(t *testing.T) {
	d := open(t)
	s := d.tell()
	ctx := t.Context()
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.goTo("/tickets/" + s.question)
	d.until(`source?.readyState === EventSource.OPEN`)
	d.do(chromedp.KeyEvent("r"), chromedp.KeyEvent("as agreed"))
	must2(t, func() error { _, err := d.admin.Claim(ctx, s.question); return err })
	d.shows("admin/local has claimed the ticket. What you have written stays here")
	must2(t, func() error { _, err := d.admin.Release(ctx, s.question, client.ReleaseInput{}); return err })
	d.until(`!document.querySelector(".gone") && document.querySelectorAll("[data-digit]:enabled").length > 1`)
	d.press(`button[data-digit="1"]`, kb.Enter)
	d.shows("Answered.")
	if k, err := d.admin.Ticket(ctx, s.question, 0); err != nil || !strings.HasSuffix(k.Detail, "as agreed") || k.ClosedBy != "operator/olga" {
		t.Errorf("%v: %+v", err, k)
	}
}

// A page of one stays that of one after another has signed in in another tab: it says so, and its forms are those of the one.
func TestAPageStaysThatOfWhomItWasShownTo(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.goTo("/tasks/" + s.task)
	d.until(`source?.readyState === EventSource.OPEN`)
	field := `document.querySelector("#form-cancel [name=detail]")`
	d.do(chromedp.Evaluate[chromedp.Void](field+`.focus()`), chromedp.KeyEvent("not needed"))
	d.do(chromedp.Evaluate[chromedp.Void](`fetch("/sign-in", {method: "POST", headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: "token=" + encodeURIComponent(` + strconv.Quote(d.token) + `)}).then(refresh); void 0`))
	d.until(`document.getElementById("connection").textContent.includes("admin/local has signed in. This page stays as it was shown to operator/olga")`)
	if got := eval[string](d, field+`.value + " of " + `+field+`.form.elements.as.value + ", " + document.querySelector(".who span").textContent`); got != "not needed of default/operator/olga, operator/olga" {
		t.Error(got)
	}
	d.do(chromedp.KeyEvent(kb.Enter))
	d.shows("shown to operator/olga, and admin/local has signed in")
	if got := eval[string](d, field+`.value + " of " + `+field+`.form.elements.as.value + ", " + document.querySelector(".who span").textContent`); got != "not needed of default/admin/local, admin/local" {
		t.Error(got)
	}
	if k, err := d.admin.Task(t.Context(), s.task); err != nil || k.State == client.Cancelled {
		t.Errorf("%v: %s", err, k.State)
	}
}

// Dead letters that are chosen stay chosen, and no others, while more come.
func TestAChoiceOfDeadLettersStaysWhileMoreCome(t *testing.T) {
	d := open(t)
	d.agent("away", client.AgentSpec{})
	first := d.lose("the first that nobody takes")
	d.signIn(d.token)
	d.goTo("/dead")
	d.until(`source?.readyState === EventSource.OPEN`)
	d.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("input[value=%s]").checked = true`, first)))
	d.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[name=why]").focus()`), chromedp.KeyEvent("no use"))
	d.lose("the second that nobody takes")
	d.shows("the second that nobody takes")
	d.lose("the third that nobody takes")
	d.shows("the third that nobody takes")
	if got := eval[string](d, `[...document.querySelectorAll("[name=task]:checked")].map((b) => b.value).join() + " " + document.activeElement.value`); got != first+" no use" {
		t.Errorf("chosen are %s, not %s", got, first)
	}
}

// Without its scripts a page has no hints for keys that do nothing, and times as they are written then fit into their cells.
func TestAPageWithoutScriptsIsWhole(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	d.do(func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return chromedp.Void{}, err
	})
	for name, path := range s.pages() {
		d.goTo(path)
		if eval[bool](d, `document.documentElement.matches(".scripts")`) {
			t.Fatal("scripts run")
		}
		if n := eval[int](d, `[...document.querySelectorAll("kbd, .keys")].filter((e) => e.checkVisibility()).length + (document.getElementById("q").placeholder.includes("/") ? 1 : 0)`); n > 0 {
			t.Errorf("%s has %d hints for keys", name, n)
		}
		if n := eval[int](d, `[...document.querySelectorAll("td")].filter((e) => e.scrollWidth > e.clientWidth).length`); n > 0 {
			t.Errorf("%s has %d cells that are too narrow", name, n)
		}
	}
	deciding := `[...document.querySelectorAll("#main button")].filter((e) => e.checkVisibility()).length`
	d.goTo("/inbox") // where nothing is read
	if n := eval[int](d, deciding); n > 0 {
		t.Errorf("%d buttons decide unread", n)
	}
	d.do(chromedp.Click(chromedp.CSS(`a[href="/tickets/` + s.approval + `"]`)))
	d.shows("What the receiver reads")
	d.do(chromedp.Click(chromedp.CSS(`button.good`)))
	d.shows("Approved.")
}

// Sign out on a page of one principal, after another has signed in in another tab, says whose session it is; there it ends that one.
func TestAPageDoesNotSignOutAnother(t *testing.T) {
	d := open(t)
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.goTo("/record")
	form := `new URLSearchParams({token: ` + strconv.Quote(d.tokenOf(client.RoleOperator, "eve")) + `})`
	d.do(chromedp.Evaluate[chromedp.Void](`fetch("/sign-in", {method: "POST", body: ` + form + `}).then(() => { window.other = true; }); void 0`))
	d.until(`window.other`)
	d.do(chromedp.Click(chromedp.CSS(`.who button`)))
	d.shows("operator/eve has signed in since then")
	if who := eval[string](d, `document.querySelector(".who span").innerText`); who != "operator/eve" {
		t.Errorf("%q is signed in", who)
	}
	d.do(chromedp.Click(chromedp.CSS(`.who button`)))
	d.shows("Or paste a token")
}
