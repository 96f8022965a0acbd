// Package client talks to a Trapeze server over HTTP: it creates tasks, hands them off, accepts and completes them, and reads their record.
// The JSON is the server's, described at /openapi.json.
//
// Each verb of a task's life cycle has a file of its name, with its input and its method (accept.go, send.go); each noun has one
// with its types, closed sets and reads (task.go, handoff.go, agent.go, constraint.go, receipt.go, result.go, duration.go).
//
// A call that changes something carries an idempotency key of its own and is repeated under the same key when the network or
// the server fails, so that it happens once. Refusals come as [*Error]; [errors.Is] compares them with a [Code]:
//
//	if errors.Is(err, client.StaleEpoch) { … look at the task again … }
//
// Where to change what, besides the verbs and nouns; package admin has policies, alerts and figures:
//   - client.go: the number of attempts, the first pause and the time limits; wire/conn.go: the later pauses; wire/problem.go: Retry-After
//   - content.go: what a sender adds to an envelope; audit.go: the audit document of a handoff
//   - error.go: the codes of refusals, and which of them may pass; do.go: requests in plain English; relief.go: what is moved off an agent
//
// Start reading at [New], then [Client.CreateTask], [Client.WaitInbox] and [Client.Accept].
package client
