// Package resource adds to an MCP server everything that is not a tool: resources and subscriptions to them, completion of names and
// ids, and prompts for the trigger phrases. It reads through the public client, as one principal.
//
// Invariants:
//   - A resource that the principal may not see is "resource not found". Every read of content is recorded, because the API reads it.
//   - Reading the inbox resource starts no timeouts: clients read resources without a request of their user or model.
//   - Text of others is data: JSON, or fenced by the renderer of the envelope. It is never the name of a link.
//   - No answer has more than [MaxText] bytes of content; a longer text has the URI of its next part.
//   - Subscriptions are hints. One stream of events serves all subscriptions of a principal, and ends with the last of them.
//
// Where to change what:
//   - resources.go: which resources there are; uri.go: their addresses, and the most bytes of one read of any resource
//   - server.go: how resources, prompts and completion come into an MCP server
//   - links.go: which links an answer has, and how many; completion.go: what names and ids are completed
//   - history.go: how many events a page of the history has, as a resource and in the tool status, and how long their details are;
//     document.go: how long the context of a document is; artifact.go: which files are read
//   - named.go: which names have the prefix that a client chose
//   - prompts.go, prompt_texts.go: the prompts that a client offers its user
//   - subscriptions.go: which changes are told
//
// Start reading at [Server], then resources.go for the resources that exist, and prompts.go with prompt_texts.go for the prompts that a
// client offers its user. The prompt that a receiver works from is rendered by content/envelope.
package resource
