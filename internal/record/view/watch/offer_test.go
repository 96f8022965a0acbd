package watch

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// crowd is watchers of the keys from 1 on.
type crowd []<-chan struct{}

func newCrowd(h *Hub[int], n int) (c crowd) {
	for i := range n {
		ch, _ := h.Watch(i + 1)
		c = append(c, ch)
	}
	return c
}

func (c crowd) keys() (list []int) {
	for i := range c {
		list = append(list, i+1)
	}
	return list
}

// woken returns the keys of those that have a signal, and takes it.
func (c crowd) woken() (list []int) {
	for i, ch := range c {
		select {
		case <-ch:
			list = append(list, i+1)
		default:
		}
	}
	return list
}

func (c crowd) want(t *testing.T, when string, keys ...int) {
	t.Helper()
	if got := c.woken(); !slices.Equal(got, keys) {
		t.Errorf("%s: woken %v, want %v", when, got, keys)
	}
}

const offered = -1

func TestAnOfferThatIsTakenAtOnceWakesFewOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New[int]()
		c := newCrowd(h, 1000)
		h.Offer(offered, c.keys())
		c.want(t, "at once", 1, 2)
		h.Withdraw(offered)
		c.want(t, "when it is taken")
		time.Sleep(time.Hour)
		c.want(t, "later")
	})
}

func TestAnOfferThatNobodyTakesWakesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New[int]()
		c := newCrowd(h, 10)
		h.Offer(offered, c.keys())
		c.want(t, "at once", 1, 2)
		time.Sleep(patience)
		synctest.Wait()
		c.want(t, "after a pause", 3, 4, 5, 6)
		h.Offer(offered, []int{7, 3})
		c.want(t, "with more receivers", 7, 8)
		time.Sleep(time.Hour)
		synctest.Wait()
		c.want(t, "at last", 3, 7, 9, 10)
		h.Withdraw(offered)
		c.want(t, "when it ends")
	})
}

func TestThoseWhoAreToldOfAnOfferLaterHaveLongerToTakeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New[int]()
		c := newCrowd(h, 1000)
		began, told := time.Now(), 0
		h.Offer(offered, c.keys())
		for _, at := range []int{0, 200, 600, 1400, 2400, 3400, 4400, 5400, 6400} {
			time.Sleep(time.Duration(at)*time.Millisecond - time.Since(began))
			synctest.Wait()
			want := min(2*(told+1), len(c)) - told
			if n := len(c.woken()); n != want {
				t.Errorf("after %d ms %d are told, want %d", at, n, want)
			}
			told += want
		}
	})
}

func TestOffersGoToWatchersThatHaveNoSignalPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New[int]()
		c := newCrowd(h, 8)
		for id := range 3 {
			h.Offer(-1-id, append(c.keys(), 100)) // nobody watches 100
		}
		c.want(t, "three offers", 1, 2, 3, 4, 5, 6)
	})
}
