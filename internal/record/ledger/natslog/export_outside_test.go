//go:build outside

package natslog

// Deaf returns options of a log that does not hear what others append.
func Deaf(o Options) Options {
	o.deaf = true
	return o
}

// Wanted is the configuration of the stream of a new record.
var Wanted = wanted

// WithoutAnswer has the next append of a log lose the answer to its first attempt.
func WithoutAnswer(l *Log) *Log {
	l.lose.Store(true)
	return l
}
