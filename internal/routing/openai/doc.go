// Package openai asks a language model for advice if no rule of the policy matches: any endpoint that answers chat
// completions in the format of OpenAI, with structured output. It also asks such endpoints for the vectors (embeddings) of texts.
//
// Invariants:
//   - The model chooses among its choices, in an answer of a fixed form; any other answer is no advice. The text of a task is
//     data in a fence that it cannot end, and could at most influence that choice.
//   - Everything is bounded: the time of all tries together, the request, the answer, and tries, calls and tokens per hour.
//     An endpoint that keeps failing is not called for a while.
//   - The key is sent only to the configured host, in a header. It is in no error and no record; redirects are not followed.
//
// Where to change what:
//   - openai.go: the time limits and budgets of advice, by default and at most; budget.go: how calls and tokens of an hour are counted, and
//     when a failing endpoint is left alone
//   - prompt.go: what a model is told of a task; answer.go: which answers count as advice
//   - request.go: when a call is tried again
//   - embed.go: the time limits of embeddings, and the size of vectors (how much text is embedded: memories/meaning.go); program.go: a program in the place of an endpoint; endpoint.go: which addresses
//     are called
//
// Start reading at [Adviser.Advise] and [Embedder.Query].
package openai
