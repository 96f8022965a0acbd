//go:build slow

package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/task"
)

// marker is a word of a task's content, and the principals that may read it.
type marker struct {
	word    string
	readers string // names, with spaces between
}

// everyEndpoint reads all that the API gives a client of a task, by endpoint. A refusal is a text too: it must say nothing either.
func everyEndpoint(t *testing.T, c *client.Client, task string, more map[string]func(context.Context) (any, error)) map[string]string {
	t.Helper()
	ctx := t.Context()
	export := func(format string) func(context.Context) (any, error) {
		return func(ctx context.Context) (any, error) {
			var b bytes.Buffer
			err := c.Export(ctx, client.ExportOptions{Task: task, Format: format}, &b)
			return b.String(), err
		}
	}
	endpoints := map[string]func(context.Context) (any, error){
		"task":    func(ctx context.Context) (any, error) { return c.Task(ctx, task) },
		"tasks":   func(ctx context.Context) (any, error) { return c.Tasks(ctx, client.TaskFilter{}) },
		"content": func(ctx context.Context) (any, error) { return c.Content(ctx, task, client.ContentInput{Render: true}) },
		"source":  func(ctx context.Context) (any, error) { return c.Content(ctx, task, client.ContentInput{Source: true}) },
		"parts": func(ctx context.Context) (any, error) {
			return c.Parts(ctx, task, client.PartsInput{Parts: []string{"all"}})
		},
		"trail":         func(ctx context.Context) (any, error) { return c.Trail(ctx, task) },
		"drift":         func(ctx context.Context) (any, error) { return c.Drift(ctx, task) },
		"export jsonl":  export("jsonl"),
		"export csv":    export("csv"),
		"export json":   export("json"),
		"inbox":         func(ctx context.Context) (any, error) { return c.Inbox(ctx, client.InboxOptions{}) },
		"tickets":       func(ctx context.Context) (any, error) { return c.Tickets(ctx, client.TicketFilter{}) },
		"search":        func(ctx context.Context) (any, error) { return c.SearchMemory(ctx, client.MemoryFilter{}) },
		"events":        func(ctx context.Context) (any, error) { return events(ctx, c) },
		"conversations": func(ctx context.Context) (any, error) { return c.Conversations(ctx, client.ConversationFilter{}) },
	}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		endpoints["handoff "+n] = func(ctx context.Context) (any, error) { return c.Handoff(ctx, task+".h"+n) }
		endpoints["document of handoff "+n] = func(ctx context.Context) (any, error) { return c.HandoffDocument(ctx, task+".h"+n) }
		endpoints["content of handoff "+n] = func(ctx context.Context) (any, error) {
			return c.Content(ctx, task+".h"+n, client.ContentInput{Render: true})
		}
		endpoints["parts of handoff "+n] = func(ctx context.Context) (any, error) {
			return c.Parts(ctx, task+".h"+n, client.PartsInput{Parts: []string{"all"}})
		}
	}
	for name, read := range more {
		endpoints[name] = read
	}
	said := map[string]string{}
	for name, read := range endpoints {
		v, err := read(ctx)
		b, failed := json.Marshal(v)
		if failed != nil {
			t.Fatal(failed)
		}
		said[name] = string(b)
		if err != nil {
			said[name] += err.Error()
			var refused *client.Error
			if !errors.As(err, &refused) || refused.Code != client.NotFound && refused.Code != client.NotPermitted && refused.Code != client.Expired {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	return said
}

// events are what the event stream tells until now.
func events(ctx context.Context, c *client.Client) (list []client.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	me, err := c.Me(ctx)
	if err != nil {
		return nil, err
	}
	enough := errors.New("enough")
	err = c.Events(ctx, 0, func(e client.Event) error {
		list = append(list, e)
		if me.Agent == "" && slices.Contains(e.Events, "agent-registered") || len(list) > 3 {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		return list, nil
	}
	return list, fmt.Errorf("the stream tells %d events: %w", len(list), err)
}

// told holds each marker against what the endpoints gave each principal: nobody else reads it at any endpoint, and its readers read it at one at least.
func told(t *testing.T, when string, endpoints map[string]map[string]string, markers []marker) {
	t.Helper()
	for _, m := range markers {
		readers := strings.Fields(m.readers)
		for name, said := range endpoints {
			var at []string
			for endpoint, text := range said {
				if strings.Contains(text, m.word) {
					at = append(at, endpoint)
				}
			}
			slices.Sort(at)
			switch reads := slices.Contains(readers, name); {
			case reads && len(at) == 0:
				t.Errorf("%s, %s finds %s nowhere", when, name, m.word)
			case !reads && len(at) > 0:
				t.Errorf("%s, %s reads %s at %q", when, name, m.word, at)
			}
		}
	}
}

// inEveryCell holds what principals are given against each cell of docs/visibility.md, at each of its endpoints: an endpoint may not refuse what the table lets them read.
func inEveryCell(t *testing.T, endpoints map[string]map[string]string, share string) {
	t.Helper()
	type cell struct {
		column, endpoint, word string // without a word: it answers
		reads                  bool
	}
	for _, who := range []struct {
		name     string
		relation task.Relation
		past     string // a word of the past that it reads
		given    map[string]string
	}{
		{"req", task.Requester, "FACT1", nil},
		{"holder", task.Owner, "FACT3", nil},
		{"approver", task.Approver, "FACT4", nil},
		{"receiver", task.Receiver, "", map[string]string{"content": "FACT4"}},
		{"shared", task.Shared, "", map[string]string{"content of " + share: "FACTS", "parts of " + share: "FACTS"}},
		{"warm", task.Former, "FACT1", nil},
		{"cold", task.Former, "FACT3", nil},
		{"past", task.Involved, "", nil},
	} {
		sight := who.relation.Visibility()
		past := sight.Past != task.PastNone
		cells := []cell{
			{"intent", "task", "INTENT", sight.Intent},
			{"work", "task", "NOTE3", sight.Work},
			{"memory", "search", "ITEM3", sight.Memory && who.relation != task.Former}, // it was written after they had lost the task
			{"past", "drift", "", past},
		}
		if who.past != "" {
			for _, endpoint := range []string{"trail", "export jsonl", "export csv", "export json"} {
				cells = append(cells, cell{"past", endpoint, who.past, past})
			}
		}
		for endpoint, word := range who.given {
			cells = append(cells, cell{"given", endpoint, word, sight.Given})
		}
		if sight.Work {
			cells = append(cells, cell{"work", "content", "", true}, cell{"work", "parts", "", true})
		}
		for _, c := range cells {
			said, is := endpoints[who.name][c.endpoint]
			refused := strings.Contains(said, string(client.NotPermitted)+": ") || strings.Contains(said, string(client.NotFound)+": ")
			if reads := is && !refused && strings.Contains(said, c.word); reads != c.reads {
				t.Errorf("%s (%s), %s: %s is read: %v, and the table says %v:\n%.300s", who.name, who.relation, c.column, c.endpoint, reads, c.reads, said)
			}
		}
	}
}

// visible is a task on its way through agents, each of which leaves its marks.
type visible struct {
	*testing.T
	*harness
	by     map[string]*client.Client
	task   string
	epoch  uint64
	offer  client.Receipt
	files  map[string]string // digests by word
	shares []string
}

func (v *visible) must(r client.Receipt, err error) client.Receipt {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
	v.epoch = r.Epoch
	return r
}

func (v *visible) file(by, word string) []client.Artifact {
	v.Helper()
	info, err := v.by[by].PutArtifact(v.Context(), strings.NewReader("file "+word), "")
	if err != nil {
		v.Fatal(err)
	}
	v.files[word] = info.Digest
	return []client.Artifact{{Digest: info.Digest, Name: "notes.txt"}}
}

func (v *visible) remember(by, word string) {
	v.Helper()
	if _, err := v.by[by].Remember(v.Context(), client.RememberInput{Text: "item " + word, Scope: client.ScopeTask, Task: v.task}); err != nil {
		v.Fatal(err)
	}
}

func (v *visible) send(by string, in client.SendInput) {
	v.Helper()
	in.Epoch = v.epoch
	v.offer = v.must(v.by[by].Send(v.Context(), v.task, in))
}

func (v *visible) accept(by string) {
	v.Helper()
	got, err := v.by[by].Accept(v.Context(), v.offer.Handoff, client.AcceptInput{Offer: v.offer.Offer})
	if err != nil {
		v.Fatal(err)
	}
	v.epoch = got.Epoch
}

func (v *visible) progress(by, word string) {
	v.Helper()
	v.must(v.by[by].Progress(v.Context(), v.task, client.ProgressInput{Epoch: v.epoch, Note: "note " + word}))
}

// look is what every principal is given by every endpoint.
func (v *visible) look() map[string]map[string]string {
	v.Helper()
	endpoints := map[string]map[string]string{}
	for name, c := range v.by {
		more := map[string]func(context.Context) (any, error){}
		for word, digest := range v.files {
			more["file "+word] = func(ctx context.Context) (any, error) {
				var b bytes.Buffer
				_, err := c.Artifact(ctx, digest, &b)
				return b.String(), err
			}
		}
		for _, id := range v.shares {
			more["content of "+id] = func(ctx context.Context) (any, error) { return c.Content(ctx, id, client.ContentInput{Render: true}) }
			more["parts of "+id] = func(ctx context.Context) (any, error) {
				return c.Parts(ctx, id, client.PartsInput{Parts: []string{"all"}})
			}
		}
		endpoints[name] = everyEndpoint(v.T, c, v.task, more)
	}
	return endpoints
}

// detour sends the task to an agent that holds it, hands it back and is shared an envelope of it, and that is then replaced by another of its name.
func (v *visible) detour(by, through string) {
	v.Helper()
	fact := func(word string) client.Content { return client.Content{Facts: []client.Point{{Text: "fact " + word}}} }
	v.send(by, client.SendInput{To: []string{through}, Detail: "because DETAILA", Content: fact("FACTA")})
	v.accept(through)
	v.progress(through, "NOTEA")
	v.remember(through, "ITEMA")
	ask := v.must(v.by[through].Ask(v.Context(), v.task, client.AskInput{Epoch: v.epoch, Question: "may I QUESTIONA", To: by}))
	v.must(v.by[by].Answer(v.Context(), ask.Ticket, client.AnswerInput{Answer: "yes ANSWERA"}))
	v.send(through, client.SendInput{To: []string{by}, Content: fact("FACTB")})
	v.accept(by)
	v.must(v.by[by].Share(v.Context(), v.task, client.ShareInput{Epoch: v.epoch, To: through, Content: fact("FACTC")}))
	v.replace(through, v.by)
}

// TestNobodyReadsMoreOfATaskThanItsPartInItAllows goes through who × what × endpoint. The rule is in docs/visibility.md.
func TestNobodyReadsMoreOfATaskThanItsPartInItAllows(t *testing.T) {
	h := open(t, httpapi.Options{})
	v := &visible{T: t, harness: h, by: map[string]*client.Client{}, files: map[string]string{}}
	for _, name := range []string{"req", "warm", "cold", "holder", "approver", "receiver", "shared", "past", "stranger", "again"} {
		v.by[name], _ = h.agent(name)
	}
	made, err := h.as(h.admin).CreateToken(t.Context(), client.TokenInput{Role: client.RoleAuditor, Name: "auditor"})
	if err != nil {
		t.Fatal(err)
	}
	v.by["auditor"] = h.as(made.Text)
	facts := func(word string) client.Content { return client.Content{Facts: []client.Point{{Text: "fact " + word}}} }

	r := v.must(v.by["req"].CreateTask(t.Context(), client.CreateInput{Intent: "Refund the order." + strings.Repeat(" It is late.", 60) + " INTENT"}))
	v.task = r.Task
	first := facts("FACT1")
	first.Artifacts = v.file("req", "FILE1")
	v.send("req", client.SendInput{To: []string{"warm"}, Detail: "because DETAIL1", Content: first})
	v.accept("warm")
	v.progress("warm", "NOTE1")
	v.detour("warm", "again")
	v.send("warm", client.SendInput{To: []string{"cold"}, Kind: client.Cold, Content: client.Content{Ask: "look ASK2"}})
	v.accept("cold")
	v.progress("cold", "NOTE2")
	third := facts("FACT3")
	third.Artifacts = v.file("cold", "FILE3")
	v.send("cold", client.SendInput{To: []string{"past"}, Detail: "because DETAIL3", Content: facts("FACTX")})
	v.must(v.by["past"].Reject(t.Context(), v.offer.Handoff, client.RejectInput{Offer: v.offer.Offer, Reason: client.NotCapable, Detail: "no REJECT " + v.files["FILE1"]}))
	v.send("cold", client.SendInput{To: []string{"holder"}, Content: third})
	v.accept("holder")
	v.progress("holder", "NOTE3")
	v.remember("holder", "ITEM3")
	ask := v.must(v.by["holder"].Ask(t.Context(), v.task, client.AskInput{Epoch: v.epoch, Question: "may I QUESTION3"}))
	v.must(h.as(h.admin).Answer(t.Context(), ask.Ticket, client.AnswerInput{Answer: "yes ANSWER3"}))
	s := v.must(v.by["holder"].Share(t.Context(), v.task, client.ShareInput{Epoch: v.epoch, To: "shared", Content: facts("FACTS")}))
	v.shares = append(v.shares, s.Share)
	fourth := facts("FACT4")
	fourth.Artifacts = v.file("holder", "FILE4")
	v.send("holder", client.SendInput{To: []string{"receiver"}, Kind: client.Supervised, Approver: "approver", Detail: "because DETAIL4", Content: fourth})
	v.offer = v.must(v.by["approver"].Approve(t.Context(), v.offer.Handoff, client.ApproveInput{}))

	offered := v.look()
	inEveryCell(t, offered, s.Share)
	told(t, "while it is offered", offered, []marker{
		{"INTENT", "auditor req warm cold holder approver receiver shared"},
		{"FACT1", "auditor req warm"},
		{"FILE1", "auditor req warm"},
		{"DETAIL1", "auditor req warm"},
		{"NOTE1", "auditor req warm"},
		{"ASK2", "auditor req warm cold holder approver receiver shared"},
		{"NOTE2", "auditor req cold holder approver receiver shared"},
		{"FACTX", "auditor req cold holder approver receiver shared"},
		{"DETAIL3", "auditor req cold holder approver"},
		{"REJECT", "auditor req cold holder approver past"},
		{"FACT3", "auditor req cold holder approver receiver shared"},
		{"FILE3", "auditor req cold holder approver receiver shared"},
		{"NOTE3", "auditor req holder approver receiver shared"},
		{"ITEM3", "auditor req holder approver"}, // what is remembered for a task is for those that held it before for what was written by then, until it ends
		{"QUESTION3", "auditor req holder approver receiver shared"},
		{"ANSWER3", "auditor req holder approver receiver shared"},
		{"FACTS", "auditor req holder approver receiver shared"},
		{"FACT4", "auditor req holder approver receiver"},
		{"FILE4", "auditor req holder approver receiver"},
		{"DETAIL4", "auditor req holder approver receiver"},
	})

	v.accept("receiver")
	v.progress("receiver", "NOTE5")
	v.must(v.by["receiver"].Complete(t.Context(), v.task, client.CompleteInput{Epoch: v.epoch, Result: client.Result{Text: "done RESULT5"}}))
	told(t, "when it is completed", v.look(), []marker{
		{"INTENT", "auditor req warm cold holder receiver shared"},
		{"FACT1", "auditor req warm"},
		{"NOTE3", "auditor req holder receiver shared"},
		{"FACT4", "auditor req holder receiver"},
		{"ITEM3", "auditor holder"},
		{"NOTE5", "auditor req receiver"},
		{"RESULT5", "auditor req receiver"},
	})
}
