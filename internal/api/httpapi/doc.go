// Package httpapi is the HTTP API: the routes under /v1, described by OpenAPI 3.1 at /openapi.json, with problem+json refusals, long
// polls and a stream of events. A route reads its input, calls one use case and writes its output; it decides nothing. The package
// endpoint serves a route, the package schema describes it.
//
// Invariants:
//   - Every call under /v1 has a caller, from its bearer token alone.
//   - Unknown fields and parameters are refused, as are bodies that are too long ([DefaultMaxBody], in httpapi.go), too deep or not UTF-8.
//   - docs/openapi.json is what the server serves; a test fails if they differ.
//
// Where to change what:
//   - health.go: what /healthz and /readyz answer, and that a server that stops or is drained is not ready; when else it is not
//     is decided in usecase/positions/positions.go (a policy file that is not in force is only mentioned)
//   - guard.go: what is refused before any route: hosts, origins, missing credentials, and what a person at an agent's client may
//     call
//   - public.go: the other routes without a token: the description of the API, its pages, and the answer where no route is
//   - httpapi.go: the largest body and the interval of heartbeats, by default; wait.go checks the tokens of long polls at the same interval, and the
//     client (wire/stream.go) gives a stream up after three
//   - events.go: the stream of events, which has no pages (what it gives: history/follow.go); how many streams may be open, and that each ends at the next event or heartbeat after its token was revoked or has
//     expired; wait.go: when a long poll ends, also for that reason; artifacts.go: how slow a transfer may be
//   - export.go: /v1/audit/export and the media types of exports; figures.go: who scrapes /metrics
//   - calls.go: what is logged of a call, and what of it is given to server/figures.go, which counts; trace.go: in which trace it is
//   - proofs.go: the proofs of the record below /v1/proof, and receipts; route_policy.go: where the policy would send a task
//   - clock.go: the clock of a server for tests
//   - certificate.go: which calls need a client certificate
//   - handoffs.go: the routes of handoffs, with approve and deny of takeover requests too; tasks.go: those of tasks; dead_letters.go,
//     constraints.go, trail.go: parts of a task with routes of their own
//   - The status of a refusal is in endpoint/problem.go, its text where it is decided, and the exit code of a command in
//     shell/errors.go.
//
// Start reading at [New], then tasks.go. The routes of a noun are in the
// file of its name. What they answer of tasks, handoffs, inboxes, tickets and lists is defined there, too; the rest are types of the use cases.
// guard.go has what precedes every route.
package httpapi

//go:generate go test -run TestDocsShowWhatTheServerServes -update .
