// Package browser holds tests of the page in a real browser: Chromium, driven over its debugging protocol, and axe, which finds what
// people with disabilities cannot use. They are behind the build tag outside.
package browser
