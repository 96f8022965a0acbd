package scenario

// count is a point that a collector got.
type count struct {
	start, at uint64 // in nanoseconds since the beginning of 1970
	value     float64
}
