//go:build slow

package alert_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

// TestWhateverServersJudgeAnAlertIsRaisedOnceUntilItRecovers folds the events of random judgements.
func TestWhateverServersJudgeAnAlertIsRaisedOnceUntilItRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s alert.State
		now, raised := noon, map[alert.Key]time.Time{}
		for range rapid.IntRange(1, 30).Draw(t, "judgements") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "seconds")) * time.Second)
			var list []alert.Condition
			for _, agent := range rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 0, 40, rapid.ID[int]).Draw(t, "agents") {
				list = append(list, holds("agent-fails", fmt.Sprint("a", agent)))
			}
			before := slices.Clone(s.Alerts)
			events, err := alert.Decide(s, judge(list...), now)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(before, s.Alerts) {
				t.Fatal("an older state has changed")
			}
			for _, e := range events {
				s = alert.Fold(s, e)
				switch e := e.(type) {
				case alert.Raised:
					if _, there := raised[e.Key]; there {
						t.Fatalf("%v is raised twice", e.Key)
					}
					raised[e.Key] = now
				case alert.Recovered:
					if since, there := raised[e.Key]; !there || now.Sub(since) < alert.Least {
						t.Fatalf("%v recovers after %s", e.Key, now.Sub(since))
					}
					delete(raised, e.Key)
				}
			}
			if len(raised) > alert.MaxAgents+1 || len(raised) != len(s.Alerts) {
				t.Fatalf("%d alerts, %d in the state", len(raised), len(s.Alerts))
			}
			if again, _ := alert.Decide(s, judge(list...), now); len(again) != 0 {
				t.Fatalf("a second server adds %v", again)
			}
		}
	})
}
