package timeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// Stack is one handoff in the picture of drift: what became of the parts of its envelope, in pixels from the bottom.
type Stack struct {
	Handoff string // its number, as in its address; "Delegated" of one to another task
	To      string
	X       int
	Blocks  []Block
}

// Middle is the middle of the bar.
func (s Stack) Middle() int { return s.X + wide/2 }

// Block is what had one fate at a hop.
type Block struct {
	Fate         string // kept, changed, added, omitted or dropped
	Y, Height, N int
	X            int
	Description  string
}

const (
	pictureHeight = 120
	between       = 100 // the beginnings of two bars, whose receivers are named below them
	wide          = 40
)

// Number is the number of a handoff of a task; 0: it is one of another task, to which a part was delegated.
func Number(task, handoff string) (n int) {
	if text, ok := strings.CutPrefix(handoff, task+".h"); ok {
		n, _ = strconv.Atoi(text)
	}
	return n
}

// Picture draws what each handoff of a task kept, changed, added, omitted and dropped, one bar each, all at one scale. It is nil if that is nothing at all.
func Picture(task string, d client.Drift) (all []Stack) {
	most := 0
	counts := make([][5]int, len(d.Hops))
	fates := [5]string{"kept", "changed", "added", "omitted", "dropped"}
	for i, h := range d.Hops {
		for _, c := range []client.Changes{h.Facts, h.Decisions, h.Constraints, h.References} {
			for k, n := range [5]int{len(c.Kept), len(c.Changed), len(c.Added), len(c.Omitted), len(c.Dropped)} {
				counts[i][k] += n
			}
		}
		for _, l := range h.LostTexts {
			if l.Why != "" { // it is listed as left out
				counts[i][3]++
			} else {
				counts[i][4]++
			}
		}
		counts[i][1] += len(h.ReplacedTexts)
		sum := 0
		for _, n := range counts[i] {
			sum += n
		}
		most = max(most, sum)
	}
	if most == 0 {
		return nil
	}
	for i, h := range d.Hops {
		number := "Delegated"
		if n := Number(task, h.Handoff); n > 0 {
			number = strconv.Itoa(n)
		}
		s := Stack{Handoff: number, To: strings.Join(h.To, ", "), X: between*i + (between-wide)/2}
		y := pictureHeight
		for k, n := range counts[i] {
			if n == 0 {
				continue
			}
			height := max(n*pictureHeight/most, 2)
			y -= height
			s.Blocks = append(s.Blocks, Block{Fate: fates[k], Y: y, Height: height, N: n, X: s.X, Description: fmt.Sprintf("%s to %s: %d %s", number, s.To, n, human.Fate(fates[k]))})
		}
		all = append(all, s)
	}
	return all
}
