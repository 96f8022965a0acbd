//go:build !slow

package cli_test

// slowStories says whether stories that begin with "[!slow] skip" run, and whether commands are tried with --json and --quiet, too.
const slowStories = false
