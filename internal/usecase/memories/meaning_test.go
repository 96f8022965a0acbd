package memories_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// scripted is an embedder to which words of the same line mean the same.
type scripted struct {
	mu      sync.Mutex
	lines   []string
	failure error
	refuses string // texts with this word
	asked   []string
}

func (*scripted) Space() string { return "scripted" }

func (*scripted) Least() float64 { return 0.5 }

func (e *scripted) Query(ctx context.Context, text string) ([]float32, error) {
	list, err := e.Texts(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (e *scripted) Texts(_ context.Context, texts []string) (list [][]float32, _ error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failure != nil {
		return nil, e.failure
	}
	for _, text := range texts {
		if e.refuses != "" && strings.Contains(text, e.refuses) {
			return nil, refusal.New(refusal.Invalid, "", "no vector of %q", text)
		}
	}
	e.asked = append(e.asked, texts...)
	for _, text := range texts {
		v := make([]float32, len(e.lines)+1)
		v[len(e.lines)] = 0.01
		for i, line := range e.lines {
			for word := range strings.FieldsSeq(line) {
				if strings.Contains(strings.ToLower(text), word) {
					v[i] = 1
				}
			}
		}
		list = append(list, v)
	}
	return list, nil
}

// withEmbedder is a harness with an embedder, and what was reported of it.
func withEmbedder(t *testing.T, e *scripted) (h *harness, reports *[]error) {
	t.Helper()
	h, reports = open(t), new([]error)
	h.meaning = memories.Options{Embedder: func(string) routing.Embedder { return e }, Report: func(_ string, err error) { *reports = append(*reports, err) }}
	h.restart()
	return h, reports
}

func (h *harness) addVectors(want error) {
	h.Helper()
	h.settle()
	if err := h.items.AddVectors(h.Context(), home); !errors.Is(err, want) {
		h.Errorf("vectors: %v, want %v", err, want)
	}
}

func TestASearchFindsOtherWordsForTheSameByTheirVectors(t *testing.T) {
	e := &scripted{lines: []string{"refund money", "vacation holiday urlaub", "erase delete"}}
	h, reports := withEmbedder(t, e)
	ann, bob := agent("ann"), agent("bob")
	refund := h.remember(ann, memories.RememberInput{Text: "A full refund within 30 days.", Scope: memory.Workspace}).ID
	holiday := h.remember(ann, memories.RememberInput{Text: "Resturlaub verfällt am 31. März.", Scope: memory.Workspace}).ID
	hers := h.remember(ann, memories.RememberInput{Text: "The refund is hers.", Scope: memory.Private}).ID
	h.settle()
	h.wantFound(bob, memories.SearchInput{Text: "money back"})
	h.addVectors(nil)
	h.addVectors(nil)
	if len(e.asked) != 3+1 { // each item once, and the query
		t.Errorf("asked for %q", e.asked)
	}
	h.wantFound(bob, memories.SearchInput{Text: "money back"}, refund)
	h.wantFound(ann, memories.SearchInput{Text: "money back"}, hers, refund)
	h.wantFound(ann, memories.SearchInput{Text: "money back", Scope: memory.Workspace}, refund)
	h.wantFound(bob, memories.SearchInput{Text: "staff vacation"}, holiday)
	h.wantFound(bob, memories.SearchInput{Text: "weather"})
	if _, err := h.items.Revise(t.Context(), ann, memories.ReviseInput{ID: refund, Text: "Nothing is given back."}); err != nil {
		t.Fatal(err)
	}
	h.settle()
	h.wantFound(bob, memories.SearchInput{Text: "money"})
	h.addVectors(nil)
	if last := e.asked[len(e.asked)-1]; last != "Nothing is given back." {
		t.Errorf("asked for %q", last)
	}
	if _, err := h.items.Forget(t.Context(), ann, holiday); err != nil {
		t.Fatal(err)
	}
	h.settle()
	h.wantFound(bob, memories.SearchInput{Text: "vacation"})
	if len(*reports) != 0 {
		t.Errorf("reported %v", *reports)
	}
}

func TestASearchDoesNotNeedItsEmbedder(t *testing.T) {
	e := &scripted{lines: []string{"refund money"}, failure: errors.New("down")}
	h, reports := withEmbedder(t, e)
	ann := agent("ann")
	refund := h.remember(ann, memories.RememberInput{Text: "A full refund.", Scope: memory.Workspace}).ID
	h.settle()
	for range 3 {
		h.wantFound(ann, memories.SearchInput{Text: "refund"}, refund)
		h.wantFound(ann, memories.SearchInput{Text: "money"})
	}
	h.addVectors(e.failure)
	h.addVectors(nil) // it waits for a while
	e.failure = nil
	h.wantFound(ann, memories.SearchInput{Text: "money"})
	h.now = h.now.Add(time.Minute)
	h.addVectors(nil)
	h.wantFound(ann, memories.SearchInput{Text: "money"}, refund)
	if len(*reports) != 2 || (*reports)[0] == nil || (*reports)[1] != nil {
		t.Errorf("reported %v, want the first failure and its end", *reports)
	}
}

func TestAnItemThatTheModelRefusesStopsNoOther(t *testing.T) {
	e := &scripted{lines: []string{"refund money"}, refuses: "strange"}
	h, reports := withEmbedder(t, e)
	ann := agent("ann")
	strange := h.remember(ann, memories.RememberInput{Text: "A strange refund.", Scope: memory.Workspace}).ID
	refund := h.remember(ann, memories.RememberInput{Text: "A full refund.", Scope: memory.Workspace}).ID
	h.addVectors(nil)
	h.wantFound(ann, memories.SearchInput{Text: "money"}, refund)
	h.wantFound(ann, memories.SearchInput{Text: "strange"}, strange)
	asked := len(e.asked)
	h.addVectors(nil) // not again
	if len(e.asked) != asked || len(*reports) != 0 {
		t.Errorf("asked for %q, reported %v", e.asked, *reports)
	}

	e.refuses = " " // a wrong model, say
	e.lines = append(e.lines, "holiday vacation")
	holiday := h.remember(ann, memories.RememberInput{Text: "A holiday.", Scope: memory.Workspace}).ID
	h.settle()
	e.failure = refusal.New(refusal.Invalid, "", "no such model")
	if err := h.items.AddVectors(t.Context(), home); refusal.CodeOf(err) != refusal.Unavailable || len(*reports) != 1 {
		t.Errorf("%v, reported %v", err, *reports)
	}
	e.failure, e.refuses = nil, ""
	h.now = h.now.Add(time.Minute)
	h.addVectors(nil)
	h.wantFound(ann, memories.SearchInput{Text: "vacation"}, holiday)
}

func TestNobodyHasTheModelDoMoreThanItsShareInAMinute(t *testing.T) {
	e := &scripted{lines: []string{"refund money", "vacation holiday"}}
	h, reports := withEmbedder(t, e)
	junk, ann := agent("junk"), agent("ann")
	for n := range 300 { // more bytes than a minute has
		h.remember(junk, memories.RememberInput{Text: fmt.Sprint("refund ", n, strings.Repeat(" and so on", 600)), Scope: memory.Private})
	}
	holiday := h.remember(ann, memories.RememberInput{Text: "A holiday.", Scope: memory.Workspace}).ID
	h.still = true
	h.addVectors(nil)
	first := len(e.asked)
	if first != 1<<20/4000+1 || e.asked[first-1] != "A holiday." {
		t.Errorf("%d texts, the last %.20q", first, e.asked[max(first-1, 0)])
	}
	h.wantFound(ann, memories.SearchInput{Text: "vacation"}, holiday)
	h.now = h.now.Add(5 * time.Minute)
	h.addVectors(nil)
	if more := len(e.asked) - 1; more != 301 { // beside the query
		t.Errorf("%d texts later", more)
	}

	asked := len(e.asked)
	for range 200 {
		if _, err := h.items.Search(t.Context(), junk, memories.SearchInput{Text: "vacation"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(e.asked) - asked; n != 120 {
		t.Errorf("the model is asked for %d of 200 searches", n)
	}
	h.wantFound(junk, memories.SearchInput{Text: "holiday"}, holiday) // by words
	h.wantFound(ann, memories.SearchInput{Text: "vacation"}, holiday)
	if len(*reports) != 0 {
		t.Errorf("reported %v", *reports)
	}
}
