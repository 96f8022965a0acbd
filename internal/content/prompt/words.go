package prompt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event/idform"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// Ranges writes three ids and more that are counted up, such as f3 f4 f5, as one: f3-f5.
func Ranges(ids []string) []string {
	var out []string
	for i := 0; i < len(ids); {
		j := i + 1
		for j < len(ids) && follows(ids[j-1], ids[j]) {
			j++
		}
		if j-i < 3 {
			out = append(out, ids[i:j]...)
		} else {
			out = append(out, ids[i]+"-"+ids[j-1])
		}
		i = j
	}
	return out
}

// follows reports whether the numbers at the end of two ids are counted up by one, and nothing else differs.
func follows(a, b string) bool {
	letters := strings.TrimRight(a, "0123456789")
	n, err := strconv.Atoi(a[len(letters):])
	return err == nil && b == letters+strconv.Itoa(n+1)
}

// How many ids are named where there is no room for a list. The bytes are of those whose form an author chose.
const (
	fewIDs   = 8
	fewBytes = 64
)

// Few is how many of some ids are named where there is no room for a list: at least one. Those of memory items, and those with more than an id, count by number alone.
func Few(ids []string) int {
	bytes := 0
	for n, id := range ids {
		if !strings.HasPrefix(id, idform.Memory) && !strings.Contains(id, " ") {
			bytes += len(id)
		}
		if n == fewIDs || n > 0 && bytes > fewBytes {
			return n
		}
	}
	return len(ids)
}

// Tokens is a number of tokens at the end of a line; empty if there are none.
func Tokens(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + strconv.Itoa(n) + " tokens"
}

// Closed returns a value of a closed set of words as it is, and anything else as a code span.
func Closed(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == "" {
		return s
	}
	return visible.Code(s)
}

// Codes is code spans with commas between them.
func Codes(list []string) string {
	spans := slices.Clone(list)
	for i, s := range spans {
		spans[i] = visible.Code(s)
	}
	return strings.Join(spans, ", ")
}
