//go:build slow

package alerting_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/memdir"
)

func TestMain(m *testing.M) { memdir.Main(m) }
