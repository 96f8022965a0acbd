// Package pace makes rounds of work rarer and larger while there is much to do, and leaves them as they are while there is little.
//
// What costs about as much for many as for one, such as a look at the end of a record or a batch of new entries for followers, is done in rounds: each takes what has arrived.
// On a machine whose processors are all in use, rounds that follow each other at once are small and many.
//
// Start reading at [After].
package pace
