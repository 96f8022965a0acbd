package usecase_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/presence"
)

func TestAnAgentThatOneNodeHearsOfIsThereForTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ahead, slack = time.Hour, 3 * time.Second
		one := presence.NewShared(time.Now, slack)
		other := presence.NewShared(func() time.Time { return time.Now().Add(ahead) }, slack) // by a clock that is wrong
		time.Sleep(10 * time.Minute)
		done := one.Waits("w", "ann")
		one.Beat("w", "bob")
		time.Sleep(time.Minute)
		other.Learn(one.News())
		if seen, want := other.Seen("w", "ann"), time.Now().Add(ahead); !seen.Equal(want) {
			t.Errorf("an agent that waits was seen at %v, want %v", seen, want)
		}
		if seen, want := other.Seen("w", "bob"), time.Now().Add(ahead-time.Minute); !seen.Equal(want) || !other.Last("w", "bob").Equal(want.Add(slack)) {
			t.Errorf("an agent that lives was seen at %v, want %v", seen, want)
		}
		if news := one.News(); len(news) != 1 {
			t.Errorf("news again: %v, want only who still waits", news)
		}
		done()
		one.News()
		if news := one.News(); len(news) != 0 {
			t.Errorf("news of nobody: %v", news)
		}
		other.Beat("w", "bob")
		before := other.Seen("w", "bob")
		other.Learn(map[string]time.Duration{"w/bob": time.Minute})
		if !other.Seen("w", "bob").Equal(before) {
			t.Error("older news take the place of newer ones")
		}
		if !one.Seen("w", "nobody").IsZero() {
			t.Error("nobody was seen")
		}
	})
}
