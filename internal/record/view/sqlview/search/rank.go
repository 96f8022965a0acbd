package search

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

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
const (
	wordRows = 300
	k1, b    = 1.2, 0.75
	usual    = 400.0 // bytes of a title and a text
	month    = 30 * 24 * time.Hour
)

// places are the indexes in which a word is looked up, with its tf there.
var places = [...]struct {
	index  string
	counts uint8
}{{"view_memory_text", 1}, {"view_memory_title", 3}}

// ranked searches by words, the best item first.
func (r *Reader) ranked(ctx context.Context, workspace string, f view.MemoryFilter) ([]view.MemoryHit, error) {
	words := matches(f.Text)
	if f.By.IsZero() || len(words) == 0 {
		return []view.MemoryHit{}, nil
	}
	q, legs := selectByWords(workspace, f, words)
	k := ranking{all: map[int64]*candidate{}, legs: legs, now: f.Now.UnixMicro()}
	err := r.db.Each(ctx, func(rows *sql.Rows) error {
		return rows.Scan(&k.items, &k.first, &k.last)
	}, countQuery, workspace)
	if err != nil {
		return nil, err
	}
	var x row
	err = r.db.Each(ctx, func(rows *sql.Rows) error {
		err := rows.Scan(&x.leg, &x.n, &x.id, &x.importance, &x.written, &x.size)
		k.add(x)
		return err
	}, q.text, q.args...)
	return k.best(view.PageSize(f.Limit)), err
}

const countQuery = `SELECT items, (SELECT min(n) FROM view_memory), (SELECT max(n) FROM view_memory) FROM view_memory_count WHERE ws = ? AND items > 0`

// selectByWords selects the newest rows that have a word in a place: a subquery (leg) for each word and place.
func selectByWords(workspace string, f view.MemoryFilter, words []string) (q clause, legs []leg) {
	for _, word := range words {
		for i, place := range places {
			most := max(wordRows/(1+i)/len(words), view.PageSize(f.Limit))
			if len(legs) > 0 {
				q.add(" UNION ALL ")
			}
			q.add("SELECT * FROM (SELECT ?, m.n, m.id, m.importance, m.written, m.size FROM "+place.index+
				" AS i CROSS JOIN view_memory AS m ON m.n = i.rowid WHERE i."+place.index+" MATCH ? AND m.ws = ?", len(legs), word, workspace)
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
	legs               []leg
	all                map[int64]*candidate
}

// leg is the rows of one word in one place: the limit, the number of rows read, and the oldest of them.
type leg struct {
	most, rows int
	oldest     int64
}

// candidate is an item that has one of the words. tf is by word.
type candidate struct {
	row
	tf    [view.MaxWords]uint8
	score float64
}

func (r *ranking) add(x row) {
	c := r.all[x.n]
	if c == nil {
		c = &candidate{row: x}
		r.all[x.n] = c
	}
	word, place := x.leg/len(places), places[x.leg%len(places)]
	c.tf[word] = max(c.tf[word], place.counts)
	r.legs[x.leg].rows++
	r.legs[x.leg].oldest = x.n // the newest come first
}

// idf is the inverse document frequency of a word.
func (r *ranking) idf(word int) float64 {
	having := 1.0
	for _, l := range r.legs[word*len(places) : (word+1)*len(places)] {
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
	idf := make([]float64, len(r.legs)/len(places))
	for i := range idf {
		idf[i] = r.idf(i)
	}
	list := make([]*candidate, 0, len(r.all))
	for _, c := range r.all {
		long := k1 * (1 - b + b*float64(c.size)/usual)
		for i := range idf {
			tf := float64(c.tf[i])
			c.score += idf[i] * tf * (k1 + 1) / (tf + long)
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

// matches returns the index queries for the words of a text. Each word is quoted, so that the index does not interpret it; a
// string without a letter or a digit is not a word. Words that nearly every text has are omitted if there are others.
func matches(text string) []string {
	words, idle, seen := []string{}, []string{}, map[string]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '"' || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		if len(words) == view.MaxWords {
			break
		}
		word = strings.ToValidUTF8(word, " ")
		if seen[word] || !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		seen[word] = true
		if quoted := `"` + word + `"`; !frequent[strings.ToLower(word)] {
			words = append(words, quoted)
		} else if len(idle) < view.MaxWords {
			idle = append(idle, quoted)
		}
	}
	if len(words) == 0 {
		return idle
	}
	return words
}

// frequent are words that nearly every English text has.
var frequent = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`a about after all also an and any are as at be because been but by can could did do does for from
		had has have he her his how i if in into is it its me more most my no not of on one or our out she should so some than that the their
		them then there these they this to up us was we were what when where which who why will with would you your`) {
		set[word] = true
	}
	return set
}()
