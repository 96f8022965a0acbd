// Package endpoint serves a use case over HTTP: its route and description, its input and output, and its refusals. The package httpapi
// adds the routes; none of them reads a body or writes a status itself.
//
// Invariants:
//   - The caller is what [Enter] was given, from the credential; a body never names it.
//   - Every refusal is a [Problem] with code, message and hint; every code has one status ([statuses]). Any other error is logged under
//     an id, and the answer has only that id.
//   - Unknown fields and parameters are refused, as are bodies that are too long, too deep or not UTF-8.
//   - The shortcut and huma give the same answers.
//   - An answer with a position ([Placed]) has the header Trapeze-Position, however it is served, and no other has it.
//   - Nothing here depends on the type of a use case.
//
// Where to change what:
//   - problem.go: the status, title and headers of every refusal, such as Retry-After
//   - raw.go: how long a call may take in all, and routes without JSON; route.go: how a route and its answers are documented (refusals are one default answer, without
//     statuses) and its input checked, and the usual page of a list
//   - shortcut.go: which calls are served without huma; json.go: what is refused in a body
//   - turn.go: from which size on the requests of one caller wait for each other; how many calls run at once is in quota/work.go
//   - about.go: how an error, an interruption or damage names its call in the log (the line of each call is made in httpapi/calls.go); tags.go: the groups of the description
//   - receipt.go: how a call asks for a receipt
//   - router.go: what every route of a server shares, such as the greatest body
//
// Start reading at [Router], then route.go (how a use case becomes a route), then shortcut.go (how most calls are served); problem.go
// has the refusals: their status, body and headers.
package endpoint
