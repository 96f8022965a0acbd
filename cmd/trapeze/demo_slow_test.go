//go:build slow

package main

// withDemo reports whether the demo is one of the README's commands that are run.
const withDemo = true
