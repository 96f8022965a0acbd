//go:build (outside && !slow) || (slow && race)

package main

// withDemo reports whether the demo is one of the README's commands that are run.
const withDemo = false
