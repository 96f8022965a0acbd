package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// The frame of a prompt is what is not content: headings, ids, advice, who set what, and the list of what was left out.
const (
	mostFixed = 100  // tokens of the frame of a prompt that has nothing but a request and what is asked
	mostFrame = 0.25 // of a prompt of 1,000 tokens
)

// contentTokens is the number of tokens of the texts in an envelope, each counted alone.
func contentTokens(e envelope.Envelope, c tokenizer.Counter) int {
	texts := []string{
		e.Task.Intent, e.Task.State, e.ConversationSummary, string(e.Task.Data), e.Handoff.Detail, e.Handoff.Notes,
		e.ExpectedOutput.Format, string(e.ExpectedOutput.Schema),
	}
	if e.Task.Ask != e.Task.Intent { // else it is there once
		texts = append(texts, e.Task.Ask)
	}
	texts = append(texts, e.OpenQuestions...)
	texts = append(texts, e.ExpectedOutput.Criteria...)
	for _, k := range e.Constraints {
		texts = append(append(texts, k.Text), k.Allow...)
		if k.Max != nil {
			texts = append(texts, fmt.Sprint(*k.Max))
		}
	}
	for _, list := range [][]envelope.Item{e.KeyFacts, e.Decisions} {
		for _, i := range list {
			texts = append(texts, i.Text, i.Reasoning)
		}
	}
	for _, s := range e.History {
		texts = append(texts, s.Action, s.Detail)
	}
	for _, m := range e.Memory {
		if m.Text != "" {
			texts = append(texts, m.Title, m.Text)
		}
	}
	for _, a := range e.Artifacts {
		texts = append(texts, a.Digest, a.Name)
	}
	for _, t := range e.Conversation {
		texts = append(texts, t.Text)
	}
	n := 0
	for _, text := range texts {
		n += c.Count(text)
	}
	return n
}

// Ids as the server makes them.
const (
	aTask    = "task_06gq3v5t8m1xw2k9r4c7bn0hzs"
	aHandoff = aTask + ".h1"
	aMemory  = "mem_06gq3v9d2f8s1jx4m7tk5wq0ch"
)

func TestTheFrameOfAPromptHasAFixedSize(t *testing.T) {
	c := tokenizer.Counter{}
	for name, h := range map[string]envelope.Header{
		"handoff": {TaskID: aTask, HandoffID: aHandoff, From: "planner", To: []string{"coder"}, Kind: event.Warm, Reason: event.ReasonUserRequest},
		"restricted": {
			TaskID: aTask, HandoffID: aHandoff, From: "planner", To: []string{"coder"}, Kind: event.Warm, Reason: event.ReasonEscalation, Permissions: []string{},
		},
		"share": {TaskID: aTask, From: "planner", To: []string{"coder"}},
	} {
		e := envelope.Envelope{Handoff: h, Task: envelope.Task{Intent: "Write the parser.", Ask: "Review it."}}
		text := envelope.Render(e)
		if frame := c.Count(text) - contentTokens(e, c); frame > mostFixed {
			t.Errorf("%s: the frame has %d tokens, at most %d are allowed:\n%s", name, frame, mostFixed, text)
		} else {
			t.Logf("%s: %d tokens", name, frame)
		}
	}
}

// realistic are envelopes as agents that hand work on make them.
func realistic() map[string]envelope.Envelope {
	out := map[string]envelope.Envelope{}
	for name, say := range stories {
		out[name] = envelopeOf(say.intent, say.ask, say.state, say.facts, say.decisions, say.steps, say.rules)
	}
	return out
}

var stories = map[string]struct {
	intent, ask, state string
	facts, decisions   string // one in each line
	steps, rules       string
}{
	"bug": {
		"Customers in Austria see net prices in the cart since Tuesday's release. Find out why and fix it before the weekend.",
		"Fix the rounding in the tax module and add a regression test.",
		"The cause is found: cart.go reads the rate before the region is set. No fix is written yet; the branch is fix/at-prices.",
		"The first wrong cart was logged at 09:14 on Tuesday, eleven minutes after release 4.2.\nOnly carts with the region AT and more than one tax class are wrong.\ncart.go line 212 reads TaxRate before SetRegion is called by the session middleware.\nRelease 4.2 moved the session middleware behind the cart middleware.\nThe staging system has the same fault; it can be reproduced with the fixture carts/at-mixed.json.\nThe price service itself answers with gross prices, so invoices are right.",
		"Do not move the middleware back: the login change of release 4.2 depends on the new order.\nRead the rate when the total is computed, not when the cart is opened.",
		"reproduced|With the fixture on staging, in three of three tries.\nbisected|The first bad commit is 8c1f2e0, which reorders the middleware.",
		"no-hotfix|prohibition|Never deploy on a Friday after two in the afternoon.\ntests|format|Every fix comes with a test that failed before.",
	},
	"refund": {
		"I was charged twice for the annual plan and want the second charge back before Friday, please.",
		"Approve and send the refund of charge 4411.", "The identity is verified. The refund form is filled in but not sent.",
		"Charges 4410 and 4411 are thirty-eight seconds apart and have the same amount, 119.00 EUR.\nThe customer pressed the button twice because the page did not answer.\nThe bank has settled both charges; a reversal is not possible any more, only a refund.\nThe customer's plan is paid until the fourth of March next year.",
		"Refund the later charge, because the earlier one started the plan.\nOffer one free month as an apology; the customer accepted.",
		"verified|The customer answered both security questions.\nfiled|The form is in the case file under refunds.",
		"no-cancel|prohibition|Do not cancel the plan.\namount|budget|Refund at most the amount of one charge.\ntone|preference|Write to customers without abbreviations.",
	},
	"research": {
		"Compare the three vendors of managed Postgres for our EU workload and recommend one, with reasons that finance can check.",
		"Write the recommendation, at most two pages, from the facts below.", "All quotes are in. The comparison table is finished; the recommendation is not written.",
		"Vendor A quotes 4,120 EUR a month for two nodes with 64 GB and 2 TB, including backups for 35 days.\nVendor B quotes 3,480 EUR for the same size, but backups beyond 7 days cost 310 EUR a month more.\nVendor C quotes 3,950 EUR and includes point-in-time recovery for 14 days.\nOnly A and C guarantee that all data stay in Frankfurt or Dublin.\nB had two outages of more than an hour in the last twelve months, A had none, C had one.\nMigration with logical replication was tried on C: 6 hours for 1.4 TB, without downtime.\nFinance needs prices for three years, with a yearly increase of five percent.",
		"Leave out on-premises: the requester excluded it in the first meeting.\nWeigh data location before price.",
		"called|All three vendors answered the same list of twelve questions.\nmeasured|The migration to C was measured with a copy of production.",
		"sources|format|Name the source of every figure.\nbudget|budget|Recommend nothing above 4,500 EUR a month.",
	},
	"release notes": {
		"Write release notes for version 5.0 that customers understand, in English and German.", "Translate the English text to German and check the links.",
		"The English text is final. Nothing is translated.",
		"The audience is administrators; they know the product but not its code.\nThe section on upgrades must be first, because version 5.0 needs a migration that takes ten minutes.\nThe screenshots are in the folder release/5.0/img and have German captions already.\nThe old report editor is gone; customers were told in March.",
		"Use the formal form of address in German.\nCall the new feature Arbeitsbereich, not Workspace.",
		"wrote|The English text, reviewed by the product manager.", "length|format|At most 900 words in each language.",
	},
	"incident": {
		"Queue workers have fallen behind since 02:10; customers wait up to forty minutes for e-mails. Get it under ten minutes.",
		"Take over the on-call duty and finish the drain.", "The backlog shrinks by about 2,000 messages a minute; 61,000 are left. Two of six workers run with the new limit.",
		"The broker's disk was full at 02:08 because a debug log was never rotated.\nWorkers reconnect with a backoff of up to five minutes, which is why they came back one by one.\nMessages older than 24 hours are dropped by policy, so the oldest are lost at 02:10 tomorrow.\nWorker memory grows by 1 MB for each 100 messages; restart them above 3 GB.\nThe alert did not fire because its threshold counts connections and not age.",
		"Drain first, find the cause of the missing alert later.\nRaise the prefetch limit to 200 on all workers, one at a time.\nDo not purge the queue: finance needs every receipt.",
		"freed|Deleted the debug log: 41 GB.\nrestarted|Workers 1 and 2 with a prefetch of 200.\ninformed|The status page says that mails are late.",
		"no-purge|prohibition|Never purge a queue.\none-by-one|security|Restart one worker at a time.",
	},
	"contract": {
		"Check the supplier's contract for anything that conflicts with our data protection terms and list what must be renegotiated.",
		"Check sections 9 to 14; sections 1 to 8 are done.", "Four conflicts are found in sections 1 to 8. Sections 9 to 14 and both annexes are unread.",
		"Section 3.2 lets the supplier use subcontractors without notice; our terms require thirty days.\nSection 5.1 sets the place of jurisdiction to Delaware.\nSection 6.4 limits liability to fees of one month, ours requires one year.\nSection 8.3 allows data in any country with an adequacy decision, which is acceptable.\nAnnex B repeats the list of subcontractors and contradicts section 3.2.",
		"Treat the place of jurisdiction as negotiable, not as a blocker.\nQuote the wording of every conflict.",
		"read|Sections 1 to 8.\nasked|Legal confirmed that adequacy decisions suffice.", "no-contact|prohibition|Do not write to the supplier.\ncite|format|Cite section and paragraph.",
	},
	"data": {
		"Load the sales figures of 2019 to 2024 into the warehouse and make them comparable across the three old systems.",
		"Load 2022 to 2024 with the same mapping.", "2019 to 2021 are loaded and reconciled to the cent. 2022 is exported but not mapped.",
		"The old system K stores amounts in cents, M in euros with a comma, and S in thousands.\nRegion codes changed in January 2022; the mapping is in the sheet regions-v3.\nReturns are negative lines in K and M, but separate documents in S.\nThe control total for 2022 is 18,204,551.07 EUR.\nLines without a customer number belong to the cash sales account 9999.\nS exports dates as days since the first of January 1990.",
		"Keep the original line number of each system for audits.\nRound only in reports, never in the tables.",
		"loaded|2019, 2020 and 2021.\nreconciled|All three years with the published accounts.", "no-delete|prohibition|Never delete rows from the raw tables.\neur|format|All amounts in euros with two decimals.",
	},
	"design": {
		"Our sign-up form loses a third of visitors at the second step. Redesign it and show that the new one is better.",
		"Build the variant with one page and start the test.", "Two drafts exist. Draft B tested better with eight people.",
		"Thirty-four percent leave at the step that asks for the company's tax number.\nThe tax number is only needed for invoices, which are sent after the trial.\nOn phones the keyboard hides the button on step two.\nSix of eight people in the test finished draft B without a question.",
		"Ask for the tax number after the trial.\nPut all fields on one page, with the password last.",
		"tested|Both drafts, with eight people each.\nmeasured|The present form, for four weeks.", "a11y|format|Usable with a keyboard and a screen reader.\nbrand|preference|Use the colours of the style guide.",
	},
	"migration": {
		"Move the image store from the old provider to ours without a broken image on the site.", "Copy the second half and switch the names over.",
		"2.1 of 4.3 million images are copied and verified. The names still point to the old provider.",
		"The old provider limits reads to 400 a second and bills every gigabyte that leaves.\nAbout 0.3 percent of images have no checksum; those are compared byte by byte.\nThumbnails need no copy: they are made on demand.\nThe switch is one change of a DNS name with a lifetime of 300 seconds.\nThe contract with the old provider ends on the last day of June.",
		"Copy by upload date, the newest first.\nKeep the old store readable for two weeks after the switch.",
		"copied|2,104,233 images.\nverified|All of them, by checksum.", "egress|budget|Spend at most 900 EUR on traffic.\nhours|security|Switch names only between 04:00 and 06:00.",
	},
	"interview": {
		"Prepare the panel for Monday's candidates: questions, a score sheet, and what we may not ask.", "Write the score sheet.",
		"The questions are done and agreed. The score sheet is missing.",
		"Three candidates come, at nine, eleven and two; each has sixty minutes.\nThe panel is two engineers and one designer; none of them has interviewed before.\nThe role is advertised at level four, with on-call duty every fifth week.\nOne candidate asked for a quiet room, and gets room 12.",
		"Score each answer from one to four, without half points.\nEvery panel member scores alone before they talk.",
		"agreed|The questions, with the hiring manager.", "legal|prohibition|No questions about family, health or age.\nsame|format|The same questions in the same order for everybody.",
	},
}

func envelopeOf(intent, ask, state, facts, decisions, steps, rules string) envelope.Envelope {
	e := envelope.Envelope{
		Handoff: envelope.Header{TaskID: aTask, HandoffID: aHandoff, From: "planner", To: []string{"coder"}, Kind: event.Warm, Reason: event.ReasonSpecialization},
		Task:    envelope.Task{Intent: intent, Ask: ask, State: state}, Hops: 2,
	}
	points := func(letter, lines string) (list []envelope.Item) {
		for i, text := range strings.Split(lines, "\n") {
			list = append(list, envelope.Item{ID: fmt.Sprint(letter, i+1), Text: text})
		}
		return list
	}
	e.KeyFacts, e.Decisions = points("f", facts), points("d", decisions)
	for line := range strings.SplitSeq(steps, "\n") {
		action, detail, _ := strings.Cut(line, "|")
		e.History = append(e.History, envelope.Step{Agent: "planner", Action: action, Detail: detail})
	}
	for line := range strings.SplitSeq(rules, "\n") {
		parts := strings.Split(line, "|")
		e.Constraints = append(e.Constraints, envelope.Constraint{
			ID: parts[0], Kind: event.ConstraintKind(parts[1]), Text: parts[2], Hard: parts[1] != "preference", Origin: "admin/owner",
		})
	}
	// What makes it about as long as its budget, and more: a memory item, and what was said in meetings.
	e.Memory = []envelope.MemoryRef{{ID: aMemory, Version: 1, Title: "How we work", Text: strings.Repeat("Every change has an owner, a reviewer and a date. ", 8)}}
	for i := range 40 {
		e.KeyFacts = append(e.KeyFacts, envelope.Item{ID: fmt.Sprint("f", 100+i), Text: fmt.Sprintf(
			"In meeting %d the team agreed that point %d of the list can wait until the customers have answered question %d.", i/5+1, i+1, i%7+1)})
	}
	return e
}

func TestOfAPromptOfAThousandTokensAQuarterAtMostIsFrame(t *testing.T) {
	c := tokenizer.Counter{}
	all, frames := 0, 0
	for name, e := range realistic() {
		p, err := packing.Pack(e, packing.Options{Budget: 1000})
		if err != nil {
			t.Fatal(err)
		}
		frame := p.Tokens - contentTokens(p.Envelope, c)
		t.Logf("%-14s %4d tokens, %3d frame, %2.0f %%", name, p.Tokens, frame, 100*float64(frame)/float64(p.Tokens))
		if float64(frame) > mostFrame*float64(p.Tokens) {
			t.Errorf("%s: %d of %d tokens are frame:\n%s", name, frame, p.Tokens, p.Text)
		}
		all, frames = all+p.Tokens, frames+frame
	}
	t.Logf("all: %.1f %% frame", 100*float64(frames)/float64(all))
}
