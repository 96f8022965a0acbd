package timeline

import (
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// Stack is one hop in the picture of drift: what became of the entries of its envelope, in pixels from the bottom.
type Stack struct {
	Hop    int
	To     string
	X      int
	Blocks []Block
}

// Block is what had one fate at a hop.
type Block struct {
	Fate         string // kept, changed, added, omitted or dropped
	Y, Height, N int
	X            int
	Description  string
}

const pictureHeight = 120

// Picture draws what each hop kept, changed, added, omitted and dropped, one bar a hop, all at one scale.
func Picture(d client.Drift) (all []Stack) {
	most := 1
	counts := make([][5]int, len(d.Hops))
	fates := [5]string{"kept", "changed", "added", "omitted", "dropped"}
	for i, h := range d.Hops {
		for _, c := range []client.Changes{h.Facts, h.Decisions, h.Constraints, h.References} {
			for k, n := range [5]int{len(c.Kept), len(c.Changed), len(c.Added), len(c.Omitted), len(c.Dropped)} {
				counts[i][k] += n
			}
		}
		sum := 0
		for _, n := range counts[i] {
			sum += n
		}
		most = max(most, sum)
	}
	for i, h := range d.Hops {
		s := Stack{Hop: h.Number, To: strings.Join(h.To, ", "), X: 40 * i}
		y := pictureHeight
		for k, n := range counts[i] {
			if n == 0 {
				continue
			}
			height := max(n*pictureHeight/most, 2)
			y -= height
			s.Blocks = append(s.Blocks, Block{Fate: fates[k], Y: y, Height: height, N: n, X: s.X, Description: fmt.Sprintf("hop %d: %d %s", h.Number, n, human.Fate(fates[k]))})
		}
		all = append(all, s)
	}
	return all
}
