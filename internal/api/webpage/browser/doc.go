// Package browser holds tests of the page in a real browser: Chromium, driven over its debugging protocol, and axe, which finds what
// people with disabilities cannot use. They are behind the build tag outside, and skipped without a browser, but for CI.
//
// Invariants:
//   - A test waits for what a page must show, never for a time.
//   - A text of an agent that would run or hide something is in every story: see hostile.
//
// pictures_test.go makes the pictures of the documentation.
//
// Start reading at story_test.go.
package browser
