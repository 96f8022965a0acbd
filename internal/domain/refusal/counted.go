package refusal

import "fmt"

// Counted is a number with what it counts, such as "1 task" or "3 tasks".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
