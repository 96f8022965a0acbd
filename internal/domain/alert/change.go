package alert

import "time"

// MaxFor is the longest time that an alert may have to hold before it is raised.
const MaxFor = 6 * time.Hour

// Change is what a policy changes of a definition. The zero Change changes nothing.
type Change struct {
	Off       bool           // it is never raised
	Threshold *float64       // nil: the default
	Window    time.Duration  // 0: the default
	For       *time.Duration // nil: the default
}

// InForce returns the definitions with changes by name, and the names of those that are switched off.
func InForce(changes map[string]Change) (list []Definition, off []string) {
	for _, d := range Definitions() {
		c := changes[d.Name]
		if c.Off {
			off = append(off, d.Name)
			continue
		}
		if c.Threshold != nil {
			d.Threshold = *c.Threshold
		}
		if c.Window > 0 {
			d.Window = c.Window
		}
		if c.For != nil {
			d.For = *c.For
		}
		list = append(list, d)
	}
	return list, off
}
