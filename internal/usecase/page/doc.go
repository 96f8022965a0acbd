// Package page checks the limit of a page of a list.
//
// Invariant: a limit is never larger than a page of the views.
//
// Start reading at [Limit].
package page
