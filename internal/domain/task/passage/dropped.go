package passage

// Dropped counts what a task no longer remembers because of a bound, and no envelope tells. The record has it all.
type Dropped struct {
	Notes   int // of the present owner: see task.MaxNotes
	Answers int // since the newest envelope was sealed: see task.MaxAnswers
	Past    int // since the newest envelope was sealed: see task.MaxPast

	// ToldNotes and ToldPast are how many of the notes and passages that the task remembers, the oldest, the newest envelope tells.
	ToldNotes, ToldPast int
}

// Newest are the last of a list, at most so many. The others are counted in dropped, but for those that were told.
func Newest[T any](list []T, most int, dropped, told *int) []T {
	return list[Fallen(max(0, len(list)-most), dropped, told):]
}

// Fallen counts n that are no longer remembered, the first of which were told, and returns n.
func Fallen(n int, dropped, told *int) int {
	*dropped += max(0, n-*told)
	*told = max(0, *told-n)
	return n
}
