package indexsum

import "github.com/trapezehq/trapeze/internal/record/ledger"

// Sum is a sum over the rows of the tables that say which entries a stream has: its row in the names of streams, and one in the index for each
// entry. Each frame has the sum as it was after its entry, so that rows that were changed or lost are noticed when the file is opened. No
// entry shows that: without its last row a stream just ends earlier, and without its name there is none.
type Sum uint64

// AddEntry adds the row of an entry.
func (s *Sum) AddEntry(stream int64, at ledger.Position) {
	*s += Sum(mix(mix(uint64(stream)) ^ uint64(at))) //nolint:gosec // never negative
}

// AddStream adds the row of a name.
func (s *Sum) AddStream(name string, id int64) {
	const prime = 1_099_511_628_211 // FNV-1a
	h := uint64(14_695_981_039_346_656_037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * prime
	}
	*s += Sum(mix(h ^ mix(^uint64(id)))) //nolint:gosec // a number of a stream is never negative
}

// mix spreads each bit over all, as SplitMix64 does.
func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
