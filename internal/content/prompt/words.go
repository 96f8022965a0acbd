package prompt

import (
	"slices"
	"strconv"
	"strings"

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
