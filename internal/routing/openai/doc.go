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
// Start reading at [Adviser.Advise] and [Embedder.Query].
package openai
