// Package hintroute has the routes of the HTTP API for what helps after a refusal: a caller of this API is told which method and path to call.
//
// Invariants: every call of package help has its routes here, or is one that no route replaces; every route is one of the API.
//
// Start reading at [Of].
package hintroute
