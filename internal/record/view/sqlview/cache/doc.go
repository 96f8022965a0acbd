// Package cache keeps recently used values. Start reading at [Cache].
package cache
