// Package openai asks a language model for advice where no rule of the policy matches: any endpoint that answers chat
// completions as OpenAI's does, with structured output.
//
// Invariants:
//   - The model chooses among what it is offered, in an answer of a fixed form; anything else is no advice. What a task's text
//     says to it is data in a fence that the text cannot end, and could only ever choose among the same.
//   - Nothing is without a bound: the time of all tries together, what is sent, what is read, tries, calls and tokens in an
//     hour. An endpoint that keeps failing is left alone for a while.
//   - The key goes to the configured host alone, in a header. It is in no error and no record; redirects are not followed.
//
// Start reading at [Adviser.Advise].
package openai
