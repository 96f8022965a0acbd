// Package usecase puts the use cases together: one package per noun, one file per verb.
//
// Surfaces get a [Surface] and call, for example, Agents.Register or Tickets.Answer. A use case takes a caller, which comes from
// a credential and never from a request, checks what the caller may do, loads what it is about as the fold of a stream, lets the
// rules decide, appends, and answers. The courier gets [UseCases.FollowUp].
//
// Invariants:
//   - Nothing changes except by one ledger entry per decision; the answer follows the entry to disk.
//   - A refusal follows a fresh read of the stream, so that a stale cache never refuses what is allowed.
//   - A call that is repeated with its idempotency key gets the first outcome; with another body it is refused.
//   - Reads of content and exports are recorded before they are answered; refused attempts are recorded, rate-limited and
//     counted.
//   - A task or agent of another workspace, or one that the caller has no part in, is "not found".
//   - Parts are made in one direction: a constructor takes parts that exist already. Stores (streams of one kind) come first,
//     then the parts that use several of them, then the use cases of surfaces.
//
// Tests that need several packages of use cases are here, named after the package that they test; others are in their package.
//
// Start reading at [New], then tasks/accept.go.
package usecase
