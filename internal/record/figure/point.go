package figure

import (
	"cmp"
	"slices"
	"time"
)

// MaxLabels is the greatest number of labels of an instrument.
const MaxLabels = 4

// Other is the value of a label past the number of names that are told apart.
const Other = "other"

// OtherWorkspaces is the label of the workspaces past the number that is told apart. No workspace can have that name, so nobody reads their figures
// as those of its own workspace.
const OtherWorkspaces = "(other)"

// Values are the values of an instrument's labels, in its order.
type Values [MaxLabels]string

// Point is the value of an instrument for one set of labels.
type Point struct {
	Instrument *Instrument
	Values     Values
	Value      float64       // of a counter or a gauge
	Spread     *Distribution // of a histogram
	Start      time.Time     // when a counter or a histogram began to count; zero: with the process
}

// Label returns the value of a label; "" if the instrument does not have it.
func (p *Point) Label(name string) string {
	if i := slices.Index(p.Instrument.Labels, name); i >= 0 {
		return p.Values[i]
	}
	return ""
}

// Distribution is the state of a histogram.
type Distribution struct {
	Count  uint64
	Sum    float64
	Counts []uint64 // by bucket; the last has what is beyond the greatest bound
}

// NewDistribution returns an empty distribution of a histogram.
func NewDistribution(i *Instrument) *Distribution {
	return &Distribution{Counts: make([]uint64, len(i.Bounds)+1)}
}

// Observe adds a value.
func (d *Distribution) Observe(bounds []float64, v float64) {
	i, _ := slices.BinarySearch(bounds, v) // a bound belongs to the bucket below it
	d.Counts[i]++
	d.Count++
	d.Sum += v
}

// add adds what another distribution of the histogram has.
func (d *Distribution) add(o *Distribution) {
	d.Count += o.Count
	d.Sum += o.Sum
	for i, n := range o.Counts {
		d.Counts[i] += n
	}
}

// clone returns a copy that does not change.
func (d *Distribution) clone() *Distribution {
	return &Distribution{Count: d.Count, Sum: d.Sum, Counts: slices.Clone(d.Counts)}
}

// Set is the points of some instruments, by labels. It is not safe for concurrent use.
type Set struct{ points map[key]*Point }

type key struct {
	instrument *Instrument
	values     Values
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{points: map[key]*Point{}} }

func (s *Set) point(i *Instrument, values []string) *Point {
	k := key{instrument: i}
	copy(k.values[:], values)
	p := s.points[k]
	if p == nil {
		p = &Point{Instrument: i, Values: k.values}
		if i.Type == Histogram {
			p.Spread = NewDistribution(i)
		}
		s.points[k] = p
	}
	return p
}

// Add adds to a counter or a gauge.
func (s *Set) Add(i *Instrument, n float64, values ...string) { s.point(i, values).Value += n }

// Raise sets a gauge to the greater of its value and v.
func (s *Set) Raise(i *Instrument, v float64, values ...string) {
	p := s.point(i, values)
	p.Value = max(p.Value, v)
}

// Observe adds a value to a histogram.
func (s *Set) Observe(i *Instrument, v float64, values ...string) {
	s.point(i, values).Spread.Observe(i.Bounds, v)
}

// AddAll adds copies of the points of another set, which must have none that this one has.
func (s *Set) AddAll(other *Set) {
	for k, p := range other.points {
		q := *p
		if q.Spread != nil {
			q.Spread = q.Spread.clone()
		}
		s.points[k] = &q
	}
}

// rename changes the labels of points. What then has the same labels is one point.
func (s *Set) rename(change func(i *Instrument, v *Values)) {
	for k, p := range s.points {
		to := k
		if change(k.instrument, &to.values); to == k {
			continue
		}
		delete(s.points, k)
		q := s.point(k.instrument, to.values[:])
		q.Value += p.Value
		if p.Spread != nil {
			q.Spread.add(p.Spread)
		}
	}
}

// Points returns a copy of all points: by the name of the instrument, then by labels.
func (s *Set) Points() []Point {
	list := s.list()
	Sort(list)
	return list
}

// list returns a copy of all points, in no order.
func (s *Set) list() []Point {
	list := make([]Point, 0, len(s.points))
	for _, p := range s.points {
		q := *p
		if q.Spread != nil {
			q.Spread = q.Spread.clone()
		}
		list = append(list, q)
	}
	return list
}

// Sort orders points by the name of the instrument, then by labels.
func Sort(list []Point) {
	slices.SortFunc(list, func(a, b Point) int { return a.compare(&b) })
}

func (p *Point) compare(o *Point) int {
	if p.Instrument != o.Instrument {
		return cmp.Compare(p.Instrument.Name, o.Instrument.Name)
	}
	return slices.Compare(p.Values[:], o.Values[:])
}

// Merge returns the points of two lists that are in the order of [Sort], in that order.
func Merge(a, b []Point) []Point {
	list := make([]Point, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		from := &a
		if b[0].compare(&a[0]) < 0 {
			from = &b
		}
		list, *from = append(list, (*from)[0]), (*from)[1:]
	}
	return append(append(list, a...), b...)
}
