//go:build !slow

package cli_test

// slowStories says whether stories that begin with "[!slow] skip" run.
const slowStories = false
