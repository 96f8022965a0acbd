package cache

import (
	"fmt"
	"slices"
	"testing"
)

func TestTheCacheForgetsOnlyWhenItIsTold(t *testing.T) {
	c := New[int, string](2)
	for i := range 5 {
		c.Put(i, fmt.Sprint(i))
	}
	have := func() (keys []int) {
		for i := range 9 {
			_, young := c.young[i]
			if _, old := c.old[i]; young || old {
				keys = append(keys, i)
			}
		}
		return keys
	}
	if got := have(); !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("before it is told: %v", got)
	}
	c.MakeRoom()
	if v, ok := c.Get(3); !ok || v != "3" {
		t.Errorf("3 is %q, %v", v, ok)
	}
	c.Put(7, "7")
	c.MakeRoom()
	if got := have(); !slices.Equal(got, []int{3, 7}) {
		t.Errorf("what was used last stays: %v", got)
	}
}
