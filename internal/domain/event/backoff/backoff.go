package backoff

import "time"

// Max is the longest pause before a retry.
const Max = 30 * time.Second

// Pause is the pause before the n-th retry: min(2^n s, 30 s), less up to half of it as jitter, from 0 to 1, says.
func Pause(n int, jitter float64) time.Duration {
	if !(jitter >= 0 && jitter <= 1) { // or not a number
		jitter = 0
	}
	d := Max
	if n < 5 {
		d = min(time.Second<<n, Max)
	}
	return d - time.Duration(jitter*float64(d/2))
}
