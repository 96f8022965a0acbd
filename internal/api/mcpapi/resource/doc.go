// Package showcase is what an MCP client is shown besides tools: resources to read, subscriptions to them, completion of names
// and ids, and prompts for the trigger phrases. All of it is read through the public client, as one principal.
//
// Invariants:
//   - What the principal may not see is "resource not found". Every read of content is on record, since the API reads it.
//   - Reading the inbox here starts no clocks: clients read resources without their user's or model's asking.
//   - What others have written is data: JSON, or as the envelope's renderer fences it. It is never the name of a link.
//   - No answer has more than [MaxText] bytes of content; what is longer says how to go on.
//   - Subscriptions are hints. One stream of events serves all of a principal's, and ends with the last of them.
//
// Start reading at [Server], then resource.go for what there is.
package resource
