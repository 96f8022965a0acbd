package event

import "time"

// MaxBackoff is the longest pause before a retry.
const MaxBackoff = 30 * time.Second

// Backoff is the pause before the n-th retry: min(2^n s, 30 s), less up to half of it as jitter, from 0 to 1, says.
func Backoff(n int, jitter float64) time.Duration {
	if !(jitter >= 0 && jitter <= 1) { // or not a number
		jitter = 0
	}
	d := MaxBackoff
	if n < 5 {
		d = min(time.Second<<n, MaxBackoff)
	}
	return d - time.Duration(jitter*float64(d/2))
}
