package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Bounds of the windows of alerts.
const (
	minWindow = time.Minute
	maxWindow = alert.Day
)

// Alert changes the definition of an alert.
type Alert struct {
	Off       bool            `yaml:"-"`
	Threshold *float64        `yaml:"threshold" doc:"The value beyond which it is raised: a share from 0 to 1, a number, or seconds. docs/alerts.md has the default and the bounds of each."`
	Window    event.Duration  `yaml:"window" doc:"The time in which it is measured, in whole minutes: 1m to 24h."`
	For       *event.Duration `yaml:"for" doc:"How long it must hold before it is raised; at most 6h."`
}

// Shorthand reads "off", which stands for the whole of it.
func (a *Alert) Shorthand(s string) bool {
	a.Off = s == "off"
	return a.Off
}

// AlertChanges returns what the policy changes of the definitions of alerts. A nil Policy changes nothing.
func (p *Policy) AlertChanges() map[string]alert.Change {
	if p == nil {
		return nil
	}
	changes := map[string]alert.Change{}
	for name, a := range p.Alerts {
		c := alert.Change{Off: a.Off, Threshold: a.Threshold, Window: time.Duration(a.Window)}
		if a.For != nil {
			d := time.Duration(*a.For)
			c.For = &d
		}
		changes[name] = c
	}
	return changes
}

func (c *checker) checkAlerts() {
	for _, name := range slices.Sorted(maps.Keys(c.Alerts)) {
		path, a := "alerts."+name, c.Alerts[name]
		d, ok := alert.Find(name)
		if !ok {
			c.say(c.places[path+"#key"], path, "use one of "+strings.Join(alert.Names(), ", "), "there is no alert %.80q", name)
			continue
		}
		if !a.Off && a.Threshold == nil && a.Window == 0 && a.For == nil {
			if _, given := c.places[path+".window"]; !given {
				c.sayAt(path, "write off, or give threshold, window or for", "nothing is changed")
			}
		}
		c.checkThreshold(path+".threshold", &d, a.Threshold)
		c.checkWindow(path, &d, a)
	}
	c.checkMilder()
}

func (c *checker) checkThreshold(path string, d *alert.Definition, t *float64) {
	switch {
	case t == nil:
	case d.Fixed():
		c.sayAt(path, "omit it; write off to switch the alert off", "the threshold of %s cannot be changed", d.Name)
	case !(*t >= d.Lowest && *t <= d.Highest):
		hint := fmt.Sprintf("use a number from %s to %s", plain(d.Lowest), plain(d.Highest))
		if d.Unit == alert.Percent && *t > d.Highest {
			hint += "; 2 % is 0.02"
		}
		c.sayAt(path, hint, "a threshold of %s is out of bounds", plain(*t))
	case d.Unit == alert.Count && *t != math.Trunc(*t):
		c.sayAt(path, "use a whole number", "%s counts, and %s is no count", d.Name, plain(*t))
	}
}

func plain(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (c *checker) checkWindow(path string, d *alert.Definition, a Alert) {
	if _, given := c.places[path+".window"]; given {
		w := time.Duration(a.Window)
		switch {
		case d.Window == 0:
			c.sayAt(path+".window", "omit it", "%s is of one moment and has no window", d.Name)
		case w < minWindow || w > maxWindow || w%time.Minute != 0:
			c.sayAt(path+".window", "use whole minutes, from 1m to 24h", "a window of %s cannot be measured", w)
		}
	}
	if a.For == nil {
		return
	}
	switch f := time.Duration(*a.For); {
	case !d.Lasting():
		c.sayAt(path+".for", "omit it", "%s is raised at once", d.Name)
	case f < 0 || f > alert.MaxFor:
		c.sayAt(path+".for", "use a time from 0s to 6h", "%s cannot be waited for", f)
	}
}

// checkMilder refuses an alert that is raised before a milder one on the same figure.
func (c *checker) checkMilder() {
	inForce, _ := alert.InForce((&Policy{Alerts: c.Alerts}).AlertChanges())
	for _, d := range inForce {
		i := slices.IndexFunc(inForce, func(o alert.Definition) bool { return o.Name == d.Milder })
		if i < 0 || d.Threshold == inForce[i].Threshold || d.Compare.Holds(d.Threshold, inForce[i].Threshold) {
			continue
		}
		path := "alerts." + d.Name
		if _, given := c.Alerts[d.Name]; !given {
			path = "alerts." + d.Milder
		}
		c.sayAt(path+".threshold", fmt.Sprintf("the threshold of %s is %s, that of %s is %s; change both, or switch one off", d.Name, plain(d.Threshold), d.Milder, plain(inForce[i].Threshold)),
			"%s (%s) would be raised before %s (%s)", d.Name, d.Severity, d.Milder, inForce[i].Severity)
	}
}
