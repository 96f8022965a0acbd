package trapeze_test

import (
	"go/ast"
	"slices"
	"strings"
)

// mayRead are the files that read a ledger by its Read, to which an empty answer is no sign that the record ends. Those of the technologies are not among them.
var mayRead = []string{
	"internal/record/ledger/through.go",         // Page itself
	"internal/record/proof/ahead.go",            // answers as its record does
	"internal/record/seal/outlines.go",          // the same
	"internal/record/proof/treefile/compare.go", // is called again later
	"internal/record/view/sqlview/sweep/sweep.go",
	"internal/delivery/tracer/tracer.go",        // goes on where it was after the next start
	"internal/usecase/positions/positions.go",   // asks what is beyond the last entry
	"internal/scenario/engine_outside_test.go",  // is a ledger itself
	"internal/scenario/cluster_outside_test.go", // waits for longer
}

// ofRecord are the directories whose packages read a ledger.
var ofRecord = []string{"internal/record", "internal/usecase", "internal/delivery", "internal/server"}

// onReplicas are those with tests of records on several replicas, in files that say outside.
var onReplicas = []string{"internal/record/ledger/natslog", "internal/scenario"}

// mustPage reports whether a file reads a ledger that may be on several replicas, and is none itself.
func mustPage(d *directory, f *sourceFile) bool {
	in := func(dir string) bool { return under(d.path, dir) }
	switch {
	case slices.Contains(mayRead, f.path):
		return false
	case f.test:
		return strings.HasSuffix(f.path, "_outside_test.go") && slices.ContainsFunc(onReplicas, in)
	}
	return slices.ContainsFunc(ofRecord, in) && (d.path == "internal/record/ledger" || !in("internal/record/ledger"))
}

// checkReads finds reads of a ledger that take an empty answer for the end of the record, or for an entry that is not there: a replica may lag. ledger.Page tells.
func checkReads(t *tree) (out []finding) {
	t.each(func(d *directory, f *sourceFile) {
		if !mustPage(d, f) {
			return
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			var used []ast.Expr
			switch n := n.(type) {
			case *ast.CallExpr:
				if len(n.Args) == 3 { // a context, a position and a limit
					used = []ast.Expr{n.Fun}
				}
			case *ast.AssignStmt: // of the method, to be called later
				used = n.Rhs
			}
			for _, x := range used {
				if fn, ok := x.(*ast.SelectorExpr); ok && fn.Sel.Name == "Read" {
					out = append(out, t.found(fn.Pos(), "read", "a replica that lags answers a read with nothing: call ledger.Page, which tells that from the end of the record"))
				}
			}
			return true
		})
	})
	return out
}
