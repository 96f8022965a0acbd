package policy

import (
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Bounds of retention.
const (
	MaxRetentions = 100
	MaxRetention  = 36_500 // days
)

// RetentionKind is what a rule of retention is about.
type RetentionKind string

// RetentionKinds lists every one.
var RetentionKinds = event.NewSet("a kind of content", RetentionKind(erasure.Task), RetentionKind(erasure.Conversation), RetentionKind(erasure.Memory))

// UnmarshalText reads a value of the set.
func (k *RetentionKind) UnmarshalText(b []byte) error { return RetentionKinds.Decode(k, b) }

// Retention is a rule of how long content is kept.
type Retention struct {
	Kind        RetentionKind `yaml:"kind" doc:"What it is about. Left out: all three."`
	Tag         string        `yaml:"tag" is:"label" doc:"Only tasks with this tag, their descendants, and conversations and memory items that belong to such tasks. Left out: everything."`
	AtLeastDays int           `yaml:"at_least_days" doc:"Erasing it before is refused: days since the task ended, the last turn of the conversation, the last version of the memory item."`
	AtMostDays  int           `yaml:"at_most_days" doc:"It is erased then, within a day. Left out: never."`
}

// Retentions returns the rules of retention. A nil Policy has none.
func (p *Policy) Retentions() (list erasure.Retentions) {
	if p == nil {
		return nil
	}
	const day = 24 * time.Hour
	for _, r := range p.Retention {
		list = append(list, erasure.Retention{Kind: erasure.Kind(r.Kind), Tag: r.Tag, Least: day * time.Duration(r.AtLeastDays), Most: day * time.Duration(r.AtMostDays)})
	}
	return list
}

func (c *checker) checkRetention() {
	if !c.most("retention", "rules of retention", len(c.Retention), MaxRetentions) {
		return
	}
	for i, r := range c.Retention {
		path := fmt.Sprintf("retention[%d]", i)
		if _, given := c.places[path+".tag"]; given {
			c.refused(path+".tag", event.CheckLabel("a tag", r.Tag))
		}
		said := false
		for _, d := range []struct {
			name string
			days int
		}{{"at_least_days", r.AtLeastDays}, {"at_most_days", r.AtMostDays}} {
			_, given := c.places[path+"."+d.name]
			said = said || given
			if given && (d.days < 1 || d.days > MaxRetention) {
				c.sayAt(path+"."+d.name, fmt.Sprintf("use a number of days from 1 to %d", MaxRetention), "%d days are out of bounds", d.days)
			}
		}
		switch {
		case !said:
			c.sayAt(path, "give at_least_days, at_most_days or both", "nothing is said")
		case r.AtMostDays > 0 && r.AtMostDays < r.AtLeastDays:
			c.sayAt(path+".at_most_days", "use at least as many days as at_least_days", "it would be erased before it may be")
		}
	}
}
