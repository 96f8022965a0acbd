package task

// Dropped counts what a task no longer remembers because of a bound, of what the next envelope would tell. The record has it all.
type Dropped struct {
	Notes   int // of the present owner, told in an envelope or not: see [MaxNotes]
	Answers int // since the newest envelope was sealed: see [MaxAnswers]
	Past    int // since the newest envelope was sealed: see [MaxPast]
}

// newest are the last of a list, at most so many. The others are counted in dropped.
func newest[T any](list []T, most int, dropped *int) []T {
	over := max(0, len(list)-most)
	*dropped += over
	return list[over:]
}
