package memories

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

// Options of the use cases of memory items. The zero value searches by words alone.
type Options struct {
	// Embedder is that of a workspace's policy; nil, and a nil result, mean that there is none.
	Embedder func(workspace string) routing.Embedder
	// Report is told when an embedder of a workspace begins to fail, and, with nil, when it works again; nil: nobody is told.
	Report func(workspace string, err error)
	// Erase calls forget, which records that an item is forgotten, and erases its content if the record is erasable; nil: nothing is erased.
	Erase func(ctx context.Context, workspace, id string, forget func() error) error
}

const (
	// fusion is the constant of reciprocal rank fusion; 60 is the usual one.
	fusion = 60
	// maxEmbedded bounds the bytes of an item that its vector is made of: models read no more.
	maxEmbedded = 4000
	// embedPause is the pause after a failure to make vectors of items.
	embedPause = 30 * time.Second
	// Bounds of what each principal has the model do in a minute: of the texts of searches, which go by words alone beyond; and of the texts
	// of items, which get their vectors later. A model costs money, or another's time.
	queryCalls, queryBytes = 120, 256 << 10
	itemCalls, itemBytes   = 600, 1 << 20
	// quotaPause is the pause before more vectors of items are made whose owners have used up their minute.
	quotaPause = 10 * time.Second
	// lateness is how long after it was written an item may come to the views.
	lateness = time.Minute
)

// meaning is what searches by meaning need: the embedder, and how far the vectors of items have come.
type meaning struct {
	opts           Options
	queries, items *quota.Rate

	mu      sync.Mutex
	failing map[string]bool     // by workspace
	vectors map[string]progress // by workspace
}

// progress says which items have vectors.
type progress struct {
	space   string
	at      ledger.Position // of the views, when all items had vectors
	since   time.Time       // items written before have
	retryAt time.Time
}

func (m *meaning) embedder(workspace string) routing.Embedder {
	if m.opts.Embedder == nil {
		return nil
	}
	return m.opts.Embedder(workspace)
}

// judge reports the first failure of a row, and the success after it. A text that the model refuses, and a query too many, are none.
func (m *meaning) judge(workspace string, err error) {
	if code := refusal.CodeOf(err); code == refusal.Invalid || code == refusal.Limit {
		return
	}
	m.mu.Lock()
	changed := m.failing[workspace] != (err != nil)
	m.failing[workspace] = err != nil
	m.mu.Unlock()
	if changed && m.opts.Report != nil {
		m.opts.Report(workspace, err)
	}
}

// nearest starts to search by meaning. The result gives the hits, the nearest first; nil if there are none in time.
func (ms *Memories) nearest(ctx context.Context, e routing.Embedder, workspace string, f view.MemoryFilter) (result func() []view.MemoryHit) {
	done := make(chan []view.MemoryHit, 1)
	go func() {
		v, err := e.Query(ctx, f.Text)
		if ctx.Err() == nil {
			ms.meaning.judge(workspace, err)
		}
		if err != nil {
			done <- nil
			return
		}
		list, err := ms.store.views.Nearest(ctx, workspace, f, e.Space(), v, e.Least())
		if err != nil {
			list = nil // what words find is an answer
		}
		done <- list
	}()
	return func() []view.MemoryHit {
		select {
		case list := <-done:
			return list
		case <-ctx.Done():
			return nil
		}
	}
}

// find searches the views by words and, where the policy names an embedder, at the same time by meaning; what fails of the latter is left out.
func (ms *Memories) find(ctx context.Context, workspace string, f view.MemoryFilter) ([]view.MemoryHit, error) {
	e := ms.meaning.embedder(workspace)
	if e == nil || f.Text == "" || !ms.meaning.queries.Take(workspace, f.By.String(), len(f.Text)) {
		return ms.store.views.Memory(ctx, workspace, f)
	}
	result := ms.nearest(ctx, e, workspace, f)
	list, err := ms.store.views.Memory(ctx, workspace, f)
	resume := ledger.Pause(ctx)
	near := result()
	resume()
	if err != nil || len(near) == 0 {
		return list, err
	}
	return fused(list, near, f.Limit), nil
}

// fused merges two lists by reciprocal rank fusion.
func fused(words, near []view.MemoryHit, limit int) []view.MemoryHit {
	score, all := map[string]float64{}, []view.MemoryHit{}
	for _, list := range [...][]view.MemoryHit{words, near} {
		for rank, x := range list {
			if _, ok := score[x.ID]; !ok {
				all = append(all, x)
			}
			score[x.ID] += 1 / float64(fusion+1+rank)
		}
	}
	slices.SortStableFunc(all, func(a, b view.MemoryHit) int { return cmp.Compare(score[b.ID], score[a.ID]) })
	return all[:min(len(all), limit)]
}

// AddVectors makes the vectors that items of a workspace lack, if its policy names an embedder. Call it again and again: it
// returns at once if nothing is to do, and for a while after a failure.
func (ms *Memories) AddVectors(ctx context.Context, workspace string) error {
	e := ms.meaning.embedder(workspace)
	if e == nil {
		return nil
	}
	began, at := ms.store.now(), ms.store.views.Position()
	ms.meaning.mu.Lock()
	p := ms.meaning.vectors[workspace]
	ms.meaning.mu.Unlock()
	if p.space != e.Space() {
		p = progress{space: e.Space()}
	}
	if p.at == at || began.Before(p.retryAt) {
		return nil
	}
	waiting, err := ms.addVectors(ctx, workspace, e, p.since)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ms.meaning.judge(workspace, err)
	switch {
	case err != nil:
		p.retryAt = began.Add(embedPause)
	case waiting:
		p.retryAt = began.Add(quotaPause)
	default:
		p.at, p.since = at, began.Add(-lateness)
	}
	ms.meaning.mu.Lock()
	defer ms.meaning.mu.Unlock()
	ms.meaning.vectors[workspace] = p
	return err
}

// addVectors reports whether items wait for the next minute of their owners.
func (ms *Memories) addVectors(ctx context.Context, workspace string, e routing.Embedder, since time.Time) (waiting bool, err error) {
	var before []view.ItemVector
	var spent []string // owners
	for {
		list, err := ms.store.views.WithoutVector(ctx, workspace, e.Space(), since, spent, routing.EmbedBatch)
		if err != nil {
			return false, stream.Unavailable(err)
		}
		same := func(a, b view.ItemVector) bool { return a.At == b.At && a.Written.Equal(b.Written) }
		if len(list) == 0 || slices.EqualFunc(list, before, same) { // or none of them can get one now
			return len(spent) > 0, nil
		}
		if spent, err = ms.embed(ctx, workspace, e, list, spent); err != nil {
			return false, err
		}
		before = slices.Clone(list)
	}
}

// embed makes and stores the vectors of some items. It leaves out those of owners that have spent their minute, and returns these with
// those that had before.
func (ms *Memories) embed(ctx context.Context, workspace string, e routing.Embedder, list []view.ItemVector, spent []string) ([]string, error) {
	var items []view.ItemVector
	var texts []string
	for _, x := range list {
		m, err := ms.store.Load(ctx, StreamOf(workspace, x.ID), true)
		if err != nil {
			return spent, err
		}
		v := m.State.Latest()
		if m.State.Forgotten() || v.At.UnixMicro() != x.Written.UnixMicro() || slices.Contains(spent, m.State.Owner) {
			continue // since the views were made
		}
		text := embedded(v)
		if !ms.meaning.items.Take(workspace, m.State.Owner, len(text)) {
			spent = append(spent, m.State.Owner)
			continue
		}
		items, texts = append(items, x), append(texts, text)
	}
	if len(items) == 0 {
		return spent, nil
	}
	return spent, ms.putVectors(ctx, workspace, e, items, texts)
}

// putVectors makes and stores the vectors of the texts of items.
func (ms *Memories) putVectors(ctx context.Context, workspace string, e routing.Embedder, items []view.ItemVector, texts []string) error {
	vectors, err := e.Texts(ctx, texts)
	if refusal.CodeOf(err) == refusal.Invalid {
		vectors, err = oneByOne(ctx, e, texts)
	}
	if err != nil {
		return err
	}
	for i := range items {
		items[i].Values = vectors[i]
	}
	if err := ms.store.views.PutVectors(ctx, workspace, e.Space(), items); err != nil {
		return stream.Unavailable(err)
	}
	return nil
}

// sample is a text that every model has a vector of.
const sample = "text"

// oneByOne makes vectors of texts when the model refused some of them: these have none. A model that refuses any text is not
// available.
func oneByOne(ctx context.Context, e routing.Embedder, texts []string) ([][]float32, error) {
	if _, err := e.Texts(ctx, []string{sample}); err != nil {
		return nil, refusal.New(refusal.Unavailable, "check the model and its address in the policy", "the model refuses every text: %v", err)
	}
	list := make([][]float32, len(texts))
	for i, text := range texts {
		one, err := e.Texts(ctx, []string{text})
		switch {
		case err == nil:
			list[i] = one[0]
		case refusal.CodeOf(err) != refusal.Invalid:
			return nil, err
		}
	}
	return list, nil
}

// embedded is the text of an item that its vector is made of.
func embedded(v memory.Version) string {
	text := v.Text
	if v.Title != "" {
		text = v.Title + "\n" + text
	}
	return refusal.Clip(text, maxEmbedded)
}
