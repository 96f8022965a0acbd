// Package client talks to a Trapeze server over HTTP: create tasks, hand them off, catch them, finish them, and read
// the record.
//
// A call that changes something carries an idempotency key of its own and is repeated under the same key when the
// network or the server fails, so that it happens once. Refusals come as [*Error]; [errors.Is] compares them with a
// [Code]:
//
//	if errors.Is(err, client.StaleEpoch) { … look at the task again … }
//
// The JSON is the server's, described at /openapi.json.
//
// Start reading at [New], then [Client.CreateTask], [Client.WaitInbox] and [Client.Accept].
package client
