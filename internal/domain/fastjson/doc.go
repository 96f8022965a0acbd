// Package fastjson reads and writes JSON exactly as encoding/json does, in a third to three quarters of the time. It uses the
// implementation of encoding/json/v2 with the options that give it the behaviour of encoding/json.
//
// Invariants:
//   - What is read into a value, the bytes that are written and every error are those of encoding/json: whatever the other
//     implementation refuses, encoding/json decides.
//   - Types that the two may treat differently ([usual]) are left to encoding/json.
//
// Start reading at [Unmarshal].
package fastjson
