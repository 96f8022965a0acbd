//go:build outside

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trapezehq/trapeze/client"
)

// inbox opens the inbox, and waits until the ticket that is chosen shows what the agents know.
func (d *desk) inbox() {
	d.t.Helper()
	d.goTo("/inbox")
	d.until(`document.querySelector("[data-chosen] .sheet[data-read]")`)
}

// refunds opens tickets to approve a refund, each with a memory item, and returns the agent that asks, the tickets and the items.
func (d *desk) refunds(n int) (worker *client.Client, tickets, items []string) {
	d.t.Helper()
	ctx := d.t.Context()
	worker = d.agent("worker", client.AgentSpec{})
	d.agent("payer", client.AgentSpec{})
	for n := range n {
		item, err := worker.Remember(ctx, client.RememberInput{Text: fmt.Sprint("the account is 777-", n), Scope: client.ScopeWorkspace})
		must2(d.t, func() error { return err })
		made, err := worker.CreateTask(ctx, client.CreateInput{Intent: fmt.Sprint("Refund order ", n), Constraints: []client.Constraint{{ID: "limit", Kind: client.ConstraintBudget, Text: "at most 50 euros"}}, Send: &client.SendInput{
			To: []string{"payer"}, Kind: client.Supervised, Content: client.Content{Ask: "Pay it back", Summary: "The customer wrote twice", Facts: []client.Point{{Text: fmt.Sprint("the parcel is lost, says carrier ", n)}}, Memory: []client.MemoryAsk{{ID: item.ID}}},
		}})
		must2(d.t, func() error { return err })
		tickets, items = append(tickets, made.Task+".k1"), append(items, item.ID)
	}
	return worker, tickets, items
}

// known is the text beside the decision on the ticket that is chosen.
const known = `document.querySelector("[data-chosen] .sheet").innerText`

// The ticket that is chosen has beside it, or below it on a phone, what the agents know, which is read then. It stays in sight when it is tapped.
func TestTheEnvelopeIsBesideTheDecision(t *testing.T) {
	d := open(t)
	d.refunds(2)
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	for name, width := range map[string]int64{"at a desk": 1280, "on a phone": 360} {
		d.do(chromedp.EmulateViewport(width, 740))
		d.inbox()
		text := eval[string](d, known)
		for _, want := range []string{"Refund order 0", "at most 50 euros", "The customer wrote twice", "says carrier 0", "Left out"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: beside the decision is no %q: %s", name, want, text)
			}
		}
		d.picture(fmt.Sprint("x-inbox-", width))
		beside := eval[bool](d, `document.querySelector("[data-chosen] .sheet").getBoundingClientRect().left > document.querySelector("[data-chosen] .act").getBoundingClientRect().right - 1`)
		if beside != (width > 360) {
			t.Errorf("%s: what is known is beside the decision: %t", name, beside)
		}
		for _, bad := range eval[[]string](d, untidy) {
			t.Errorf("%s: %s", name, bad)
		}
	}
	if n := eval[int](d, `[...document.querySelectorAll("[data-key=a]")].filter((b) => b.checkVisibility({visibilityProperty: true})).length`); n != 1 {
		t.Errorf("%d tickets can be approved", n)
	}
	d.do(chromedp.EmulateViewport(360, 740))
	d.inbox()
	const second = `document.querySelectorAll("[data-ticket]")[1]`
	at := eval[[]float64](d, `(({x, y}) => [x, y])((`+second+`.scrollIntoView({block: "center"}), `+second+`.getBoundingClientRect()))`)
	d.do(chromedp.MouseClickXY(at[0]+4, at[1]+4))
	d.until(second + `.matches("[data-chosen]") && ` + known + `.includes("says carrier 1")`)
	if now := eval[[]float64](d, `[`+second+`.getBoundingClientRect().top, scrollY]`); now[0] < 0 || now[0] > at[1]+2 || now[1] > 0 && now[0] < at[1]-2 { // at the head of the page it cannot stay
		t.Errorf("the ticket that was tapped goes from %.0f to %.0f", at[1], now[0])
	}
}

// The ticket that is chosen is decided on in two keystrokes, and no other is: as what is shown beside it, which is read again when it changes.
func TestADecisionIsOfWhatIsShown(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	worker, tickets, items := d.refunds(2)
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.inbox()
	d.do(chromedp.Evaluate[chromedp.Void](`window.whole_ = fetch; window.fetch = () => Promise.reject(new Error("away")); void 0`))
	for _, key := range []string{"j", "j", "a", kb.Enter} { // of what is not shown
		d.do(chromedp.KeyEvent(key))
	}
	if k, err := d.admin.Ticket(ctx, tickets[1], 0); err != nil || !k.Open() || eval[string](d, `location.pathname`) != "/inbox" {
		t.Errorf("a ticket is approved unread: %v: %+v", err, k)
	}
	d.do(chromedp.Evaluate[chromedp.Void](`window.fetch = whole_; choose(current()); void 0`))
	d.until(known + `.includes("says carrier 1")`)
	must2(t, func() error {
		_, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Something else"})
		return err
	})
	d.do(chromedp.Evaluate[chromedp.Void](`refresh().then(() => { window.refreshed_ = true; }); void 0`))
	d.until(`window.refreshed_ && ` + known + `.includes("says carrier 1")`) // a change leaves it
	must2(t, func() error {                                                  // what binds the task is read again, and then approved
		_, err := d.admin.Constrain(ctx, strings.TrimSuffix(tickets[1], ".k1"), client.ConstrainInput{Constraint: client.Constraint{ID: "receipt", Kind: client.ConstraintProhibition, Text: "no refund without a receipt"}})
		return err
	})
	d.until(known + `.includes("no refund without a receipt") && ` + known + `.includes("has changed, and was read again") && document.querySelector("[data-chosen] [data-key=a]").checkVisibility({visibilityProperty: true})`)
	forget := func(n int) {
		must2(t, func() error { _, err := worker.Forget(ctx, items[n]); return err })
	}
	forget(1)
	d.until(`!` + known + `.includes("777-1") && document.querySelector("[data-chosen] [data-key=a]").checkVisibility({visibilityProperty: true})`)
	d.do(chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	d.shows("Approved.")
	for n, open := range []bool{true, false} {
		if k, err := d.admin.Ticket(ctx, tickets[n], 0); err != nil || k.Open() != open {
			t.Errorf("%v: %+v", err, k)
		}
	}
	d.goTo("/tickets/" + tickets[0]) // which follows what it shows, too
	d.shows("777-0")
	d.until(`source?.readyState === EventSource.OPEN`)
	d.do(chromedp.KeyEvent("r"))
	d.do(chromedp.Focus(chromedp.CSS(`input[name=detail]`)), chromedp.KeyEvent("as agreed"))
	forget(0)
	d.until(`!known.innerText.includes("777-0") && known.innerText.includes("has changed, and was read again")`)
	d.do(chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	d.shows("Approved.")
	if k, err := d.admin.Ticket(ctx, tickets[0], 0); err != nil || k.Detail != "as agreed" {
		t.Errorf("%v: %+v", err, k)
	}
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}

// A ticket that somebody else has closed leaves the inbox, and keys are for no other before the person has chosen it.
func TestTheNextTicketIsChosenByThePersonAlone(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	worker := d.agent("worker", client.AgentSpec{})
	d.agent("payer", client.AgentSpec{})
	var tickets []string
	for _, intent := range []string{"Refund order 7", "Refund order 8"} {
		made, err := worker.CreateTask(ctx, client.CreateInput{Intent: intent, Send: &client.SendInput{To: []string{"payer"}, Kind: client.Supervised, Content: client.Content{Ask: intent}}})
		must2(t, func() error { return err })
		tickets = append(tickets, made.Task+".k1")
	}
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.inbox()
	must2(t, func() error {
		_, err := d.admin.Deny(ctx, tickets[0], client.DenyInput{Detail: "not ours"})
		return err
	})
	d.until(`gone.checkVisibility() && gone.textContent.includes("Refund order 7: The ticket is denied by admin/local.")`)
	d.do(chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	must2(t, func() error {
		_, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Something else"})
		return err
	})
	d.do(chromedp.Evaluate[chromedp.Void](`refresh().then(() => { window.refreshed_ = true; }); void 0`))
	d.until(`window.refreshed_`)
	if eval[bool](d, `!!document.querySelector("[data-chosen], .sheet[data-read]")`) || eval[string](d, `location.pathname`) != "/inbox" {
		t.Error("another ticket is chosen")
	}
	d.do(chromedp.KeyEvent("j"))
	d.until(`document.querySelector("[data-chosen] .sheet[data-read]") && gone.hidden`)
	d.do(chromedp.Focus(chromedp.CSS(`[data-chosen] input[name=detail]`)), chromedp.KeyEvent("no, too much"), chromedp.KeyEvent(kb.Enter)) // decides nothing
	if k, err := d.admin.Ticket(ctx, tickets[1], 0); err != nil || !k.Open() || eval[string](d, `document.activeElement.value`) != "no, too much" {
		t.Errorf("Enter in the reason: %v: %+v", err, k)
	}
	d.do(chromedp.KeyEvent(kb.Escape))
	d.do(chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	d.shows("Approved.")
	if k, err := d.admin.Ticket(ctx, tickets[1], 0); err != nil || k.Open() {
		t.Errorf("%v: %+v", err, k)
	}
}
