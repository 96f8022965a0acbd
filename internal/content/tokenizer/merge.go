package tokenizer

// A part of a piece begins at a byte. Its next is the byte at which the one after it begins, its last that at which the one before it does.
type part struct{ last, next int32 }

// pair is two parts that are a token together.
type pair struct {
	order uint64 // its rank, then where it begins: the leftmost of equal ones is merged first
	end   int32
}

func (p pair) first() int32 { return int32(p.order) } //nolint:gosec // the lower half

// long is short for long pieces: it takes n log n steps.
func (t *tokens) long(piece string) int {
	n := int32(len(piece)) //nolint:gosec // a text is smaller than 2 GiB
	parts := make([]part, n+1)
	for i := range parts {
		parts[i] = part{int32(i) - 1, int32(i) + 1} //nolint:gosec // as above
	}
	left, open := n, make(pairs, 0, n)
	add := func(first int32) {
		if first < 0 || parts[first].next >= n {
			return
		}
		end := parts[parts[first].next].next
		if rank := t.rank(piece[first:end]); rank != none {
			open.push(pair{uint64(rank)<<32 | uint64(first), end}) //nolint:gosec // first is not negative
		}
	}
	for i := range n - 1 {
		add(i)
	}
	for len(open) > 0 {
		p := open.pop()
		first := p.first()
		second := parts[first].next
		if second < 0 || second >= n || parts[second].next != p.end { // one of them was merged with another
			continue
		}
		left--
		parts[first].next, parts[p.end].last, parts[second].next = p.end, first, -1
		add(first)
		add(parts[first].last)
	}
	return int(left)
}

// pairs are a heap with the pair that is merged first at its start.
type pairs []pair

func (h *pairs) push(p pair) {
	*h = append(*h, p)
	i := len(*h) - 1
	for i > 0 && p.order < (*h)[(i-1)/2].order {
		(*h)[i] = (*h)[(i-1)/2]
		i = (i - 1) / 2
	}
	(*h)[i] = p
}

func (h *pairs) pop() pair {
	list, n := *h, len(*h)-1
	least, p := list[0], list[n]
	i := 0
	for child := 1; child < n; child = 2*i + 1 {
		if child+1 < n && list[child+1].order < list[child].order {
			child++
		}
		if p.order <= list[child].order {
			break
		}
		list[i], i = list[child], child
	}
	list[i] = p
	*h = list[:n]
	return least
}
