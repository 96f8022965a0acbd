//go:build slow

package natslog

import (
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Right after a network is whole again, the leader of before may answer one request, and its successor the next: what the one lacks and the other has is no damage.
func TestAnEntryThatOneLeaderHasAndAnotherLacksIsNotDamaged(t *testing.T) {
	lacking := errors.New("the leader of before")
	for name, test := range map[string]struct {
		then message // what the first leader with an entry at or after the one that is missing has; none, if it has no sequence
		want error
	}{
		"it is there":              {message{seq: 7, subject: "s.w.task.1"}, errNoAnswer},
		"another's is there":       {message{seq: 7, subject: "s.w.task.2"}, errMissing},
		"nothing is there yet":     {message{}, errNoAnswer},
		"one that comes later is":  {message{seq: 8}, errMissing},
		"the network breaks again": {message{subject: "broken"}, lacking},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			leader := func(getRequest) (message, bool, error) {
				if asked++; asked == 1 {
					return message{}, false, nil
				}
				if test.then.subject == "broken" {
					return message{}, false, lacking
				}
				return test.then, test.then.seq > 0, nil
			}
			c := chain{stream: "w/task/1", subject: "s.w.task.1", last: 3}
			_, err := c.nextOf(leader, getRequest{Seq: 4, NextFor: "s.w.task.1"}, 7)
			d, damaged := errors.AsType[*ledger.Damaged](err)
			if !errors.Is(err, test.want) || damaged != errors.Is(test.want, errMissing) || damaged && d.Position != 7 || asked != 2 {
				t.Errorf("%v, asked %d times", err, asked)
			}
		})
	}
}
