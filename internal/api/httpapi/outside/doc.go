// Package outside tests the HTTP API with other programs: linters of its OpenAPI document, and a fuzzer that makes calls from that document and
// holds the answers against it. It has only tests, with the build tag outside; the programs are in testdata: those from npm are installed with
// `npm ci`, those from PyPI with `pip install -r requirements.txt` into testdata/venv, and a witness of logs with `go install` into testdata/bin.
//
// Invariants:
//   - No failure is expected. What a program does not check is in its configuration in testdata, with the reason.
//   - Calls go to the program `trapeze serve`.
//
// Start reading at schemathesis_test.go, then description_test.go.
package outside
