package search

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// Ranking. The score of an item is that of BM25, with the usual k1 and b, times a factor for importance and recency:
//
//	sum over words of  idf · tf·(k1+1) / (tf + k1·(1-b + b·size/usual))   ×   1 + importance + 1/(1 + months of age)
//
// The bm25 of SQLite counts all rows that have a word, again for each search, and looks up the length of each row. Here tf
// says where a word occurs and not how often. idf is ln(1 + items/having); if not all rows of a word are read, having is
// extrapolated from the age of the oldest row read.
//
// Only the newest rows of each word are read, wordRows for all words together, and half as many for titles and tags: so all
// items with a rare word are ranked, however old, and of those with only frequent words the newest.
//
// Of a word that fewer than fewRows items have, close words of the vocabulary are searched for in a second query (expand.go).
// They are a term of their own for the same word, with less weight; of the terms of a word the best counts.
const (
	wordRows = 300
	fewRows  = 5
	k1, b    = 1.2, 0.75
	usual    = 400.0 // bytes of a title and a text
	month    = 30 * 24 * time.Hour
)

// places are the indexes in which a word is looked up, with its tf there.
var places = [...]struct {
	index  string
	counts uint8
}{{"view_memory_text", 1}, {"view_memory_title", 3}}

// term is a query of the index for a word, by its number.
type term struct {
	word   int
	match  string
	weight float64
}

// ranked searches by words, the best item first.
func (r *Reader) ranked(ctx context.Context, workspace string, f view.MemoryFilter) ([]view.MemoryHit, error) {
	words := matches(f.Text)
	if f.By.IsZero() || len(words) == 0 {
		return []view.MemoryHit{}, nil
	}
	k := ranking{all: map[int64]*candidate{}, now: f.Now.UnixMicro()}
	err := r.db.Each(ctx, func(rows *sql.Rows) error {
		return rows.Scan(&k.items, &k.first, &k.last)
	}, countQuery, workspace)
	if err != nil {
		return nil, err
	}
	terms := make([]term, len(words))
	for i, w := range words {
		terms[i] = term{i, w.match, w.weight}
	}
	if err := r.read(ctx, workspace, f, &k, terms); err != nil {
		return nil, err
	}
	more, err := r.expand(ctx, workspace, f.By.String(), &k, words)
	if err == nil && len(more) > 0 {
		err = r.read(ctx, workspace, f, &k, more)
	}
	return k.best(view.PageSize(f.Limit)), err
}

// read adds the rows of some terms to a ranking.
func (r *Reader) read(ctx context.Context, workspace string, f view.MemoryFilter, k *ranking, terms []term) error {
	q, legs := selectByWords(workspace, f, terms)
	before := len(k.legs)
	k.terms, k.legs = append(k.terms, terms...), append(k.legs, legs...)
	var x row
	return r.db.Each(ctx, func(rows *sql.Rows) error {
		err := rows.Scan(&x.leg, &x.n, &x.id, &x.importance, &x.written, &x.size)
		x.leg += before
		k.add(x)
		return err
	}, q.text, q.args...)
}

const countQuery = `SELECT items, (SELECT min(n) FROM view_memory), (SELECT max(n) FROM view_memory) FROM view_memory_count WHERE ws = ? AND items > 0`

// selectByWords selects the newest rows that have a term in a place: a subquery (leg) for each term and place.
func selectByWords(workspace string, f view.MemoryFilter, terms []term) (q clause, legs []leg) {
	for _, t := range terms {
		for i, place := range places {
			most := max(wordRows/(1+i)/len(terms), view.PageSize(f.Limit))
			if len(legs) > 0 {
				q.add(" UNION ALL ")
			}
			q.add("SELECT * FROM (SELECT ?, m.n, m.id, m.importance, m.written, m.size FROM "+place.index+
				" AS i CROSS JOIN view_memory AS m ON m.n = i.rowid WHERE i."+place.index+" MATCH ? AND m.ws = ?", len(legs), t.match, workspace)
			q.mayRead(f.By)
			q.narrow(workspace, f)
			q.add(" ORDER BY i.rowid DESC LIMIT ? | 0)", most)
			legs = append(legs, leg{most: most})
		}
	}
	return q, legs
}

type row struct {
	leg              int
	n, written, size int64
	id               string
	importance       float64
}

// ranking is the state of one search.
type ranking struct {
	items, first, last int64 // the number of items, and the positions of the first and the last
	now                int64
	terms              []term
	legs               []leg // of each term, one for each place
	all                map[int64]*candidate
}

// leg is the rows of one term in one place: the limit, the number of rows read, and the oldest of them.
type leg struct {
	most, rows int
	oldest     int64
}

// candidate is an item that has one of the words. tf is by term.
type candidate struct {
	row
	tf    [view.MaxWords + maxExpanded]uint8
	score float64
}

func (r *ranking) add(x row) {
	c := r.all[x.n]
	if c == nil {
		c = &candidate{row: x}
		r.all[x.n] = c
	}
	t, place := x.leg/len(places), places[x.leg%len(places)]
	c.tf[t] = max(c.tf[t], place.counts)
	r.legs[x.leg].rows++
	r.legs[x.leg].oldest = x.n // the newest come first
}

// rows is the number of rows that were read for a term.
func (r *ranking) rows(term int) (n int) {
	for _, l := range r.legs[term*len(places) : (term+1)*len(places)] {
		n += l.rows
	}
	return n
}

// idf is the inverse document frequency of a term.
func (r *ranking) idf(term int) float64 {
	having := 1.0
	for _, l := range r.legs[term*len(places) : (term+1)*len(places)] {
		rows := float64(l.rows)
		if l.rows == l.most {
			rows *= float64(r.last-r.first+1) / float64(r.last-l.oldest+1)
		}
		having = max(having, rows)
	}
	return math.Log(1 + float64(r.items)/having)
}

// best scores the candidates and returns the best.
func (r *ranking) best(limit int) []view.MemoryHit {
	idf := make([]float64, len(r.terms))
	words := 0
	for i, t := range r.terms {
		idf[i], words = t.weight*r.idf(i), max(words, t.word+1)
	}
	list, scores := make([]*candidate, 0, len(r.all)), make([]float64, words)
	for _, c := range r.all {
		long := k1 * (1 - b + b*float64(c.size)/usual)
		clear(scores)
		for i, t := range r.terms {
			tf := float64(c.tf[i])
			scores[t.word] = max(scores[t.word], idf[i]*tf*(k1+1)/(tf+long))
		}
		for _, s := range scores {
			c.score += s
		}
		age := float64(max(0, r.now-c.written)) / float64(month.Microseconds())
		c.score *= 1 + c.importance + 1/(1+age)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.n, a.n)) })
	found := make([]view.MemoryHit, 0, limit)
	for _, c := range list[:min(len(list), limit)] {
		found = append(found, view.MemoryHit{ID: c.id, At: ledger.Position(c.n)}) //nolint:gosec // never negative
	}
	return found
}
