// Package web is the command that opens the page of the server in a browser.
//
// Start reading at [Command].
package web
