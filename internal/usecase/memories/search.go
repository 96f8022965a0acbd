package memories

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/page"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

const (
	usualPage = 50
	usualBest = 20       // of what is ranked
	maxQuery  = 2000     // bytes
	excerpt   = 300      // characters
	maxScan   = 64 << 10 // bytes of a text that are looked through for the words
)

// SearchInput narrows a search of memory items. Zero fields do not.
type SearchInput struct {
	Text         string // words, of which an item need not have all
	Tag          string
	Agent        string // the author, by name, or a principal
	Task         string
	Conversation string
	Scope        memory.Scope
	Pinned       bool            // whose pin counts
	Proposed     bool            // that an agent proposes to pin for the whole workspace
	Since, Until time.Time       // when the newest version was written: not before, and before
	After        ledger.Position // the Next of the page before; only without a text
	Limit        int             // at most this many; 0 means 20 with a text, otherwise 50
}

// FoundItems is one page of a search.
type FoundItems struct {
	Items []Item
	Next  ledger.Position // 0 at the end, and for what is ranked
}

// Search finds memory items that the caller may read: with a text the best first, which weighs words, importance
// and recency, otherwise the newest first. The items that it returns are recorded.
func (ms *Memories) Search(ctx context.Context, c caller.Caller, in SearchInput) (FoundItems, error) {
	found, err := ms.search(ctx, c, in)
	if err != nil {
		return FoundItems{}, ms.access.Refused(ctx, c.Workspace, c.Actor(), "search-memory", "", err)
	}
	return found, nil
}

func (ms *Memories) search(ctx context.Context, c caller.Caller, in SearchInput) (FoundItems, error) {
	f, err := in.filter(c)
	if err != nil {
		return FoundItems{}, err
	}
	f.Now = ms.store.now()
	if f.By, err = ms.searcher(ctx, c, in); err != nil {
		return FoundItems{}, err
	}
	leave, err := ms.work.Enter(ctx, c)
	if err != nil {
		return FoundItems{}, err
	}
	defer leave()
	list, err := ms.find(ctx, c.Workspace, f)
	if err != nil {
		return FoundItems{}, stream.Unavailable(err)
	}
	out, given, words := FoundItems{Items: []Item{}}, []string{}, wordsOf(in.Text)
	for _, x := range list {
		m, err := ms.store.Load(ctx, StreamOf(c.Workspace, x.ID), true)
		if err != nil {
			return FoundItems{}, err
		}
		if m.State.Forgotten() || !memory.MayRead(m.State, f.By) {
			continue // since the views were made
		}
		item := itemOf(m.State, m.Head)
		item.Excerpt = around(m.State.Latest().Text, words)
		out.Items = append(out.Items, item)
		given = append(given, fmt.Sprintf("%s@%d", item.ID, item.Version))
	}
	if in.Text == "" && len(list) == f.Limit {
		out.Next = list[len(list)-1].At
	}
	return out, ms.access.ReadAll(ctx, c.Workspace, c.Actor(), in.Task, "memory search", given)
}

// filter checks a search, and is what views make of it, without the reader.
func (in SearchInput) filter(c caller.Caller) (view.MemoryFilter, error) {
	usual := usualPage
	if in.Text != "" {
		usual = usualBest
	}
	limit, err := page.Limit(in.Limit, usual)
	f := view.MemoryFilter{
		Text: in.Text, Tag: in.Tag, Author: in.Agent, Task: in.Task, Conversation: in.Conversation, Scope: in.Scope, Pinned: in.Pinned,
		Since: in.Since, Until: in.Until, After: in.After, Limit: limit,
	}
	if in.Proposed {
		f.Pinning = memory.ProposedPin
	}
	checks := []error{c.May(identity.ReadOwn, "search memory"), err}
	if in.Tag != "" {
		checks = append(checks, refusal.In("tag", event.CheckName("tag", in.Tag)))
	}
	if in.Conversation != "" {
		checks = append(checks, refusal.In("conversation", conversationid.Check(in.Conversation)))
	}
	if in.Task != "" {
		checks = append(checks, refusal.In("task", event.CheckTaskID(in.Task)))
	}
	if in.Scope != "" {
		checks = append(checks, new(memory.Scope).UnmarshalText([]byte(in.Scope)))
	}
	for _, err := range checks {
		if err != nil {
			return f, err
		}
	}
	switch {
	case len(in.Text) > maxQuery || len(in.Agent) > maxQuery:
		return f, refusal.New(refusal.TooLarge, fmt.Sprintf("use at most %d bytes: the words that matter", maxQuery),
			"the query has %d bytes", max(len(in.Text), len(in.Agent))).With("field", "q").With("limit", maxQuery)
	case in.Text != "" && in.After > 0:
		return f, refusal.New(refusal.Invalid, "raise the limit, or narrow the search", "a ranked search has one page")
	case !in.Until.IsZero() && !in.Until.After(in.Since):
		return f, refusal.New(refusal.Invalid, "give a time after since", "until is not after since")
	}
	return f, nil
}

// searcher is the caller with those of its tasks that can matter to a search.
func (ms *Memories) searcher(ctx context.Context, c caller.Caller, in SearchInput) (memory.Reader, error) {
	r := memory.Reader{Principal: c.Principal}
	if r.ReadsAny() || in.Scope == memory.Private || in.Scope == memory.Workspace {
		return r, nil
	}
	tasks := []string{in.Task}
	if in.Task == "" {
		var err error
		if tasks, err = ms.store.views.GrantingTasks(ctx, c.Workspace, r.String(), view.MaxPage); err != nil {
			return r, stream.Unavailable(err)
		}
	}
	err := taskstore.Join(ctx, ms.store.tasks, c.Workspace, &r, tasks...)
	return r, err
}

// wordsOf finds any of the words of a query, or is nil.
func wordsOf(query string) *regexp.Regexp {
	var words []string
	for word := range strings.FieldsFuncSeq(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if len(words) < view.MaxWords && utf8.ValidString(word) {
			words = append(words, regexp.QuoteMeta(word))
		}
		// Scripts without blanks are searched for in pairs of characters.
		if rs := []rune(word); strings.ContainsFunc(word, unspaced) {
			for i := 0; i+1 < len(rs) && len(words) < view.MaxWords; i++ {
				words = append(words, regexp.QuoteMeta(string(rs[i:i+2])))
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	return regexp.MustCompile("(?i)" + strings.Join(words, "|"))
}

func unspaced(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// around is a part of a text: what is around the first of some words, or its beginning.
func around(text string, words *regexp.Regexp) string {
	const before = excerpt / 4
	from := 0
	if words != nil {
		if at := words.FindStringIndex(refusal.Clip(text, maxScan)); at != nil {
			from = at[0]
			for n := 0; n < before && from > 0; n++ {
				_, size := utf8.DecodeLastRuneInString(text[:from])
				from -= size
			}
		}
	}
	out := text[from:]
	n := 0
	for i := range out {
		if n++; n > excerpt {
			out = strings.TrimRightFunc(out[:i], unicode.IsSpace) + " …"
			break
		}
	}
	if from > 0 {
		out = "… " + strings.TrimLeftFunc(out, unicode.IsSpace)
	}
	return out
}
