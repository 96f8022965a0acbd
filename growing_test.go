package trapeze_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The placing that docs/growing.md describes: workspaces with different loads are placed over clusters, one after the other, in three ways.

const (
	growWorkspaces = 10_000
	growMean       = 100.0   // entries a second
	growCapacity   = 5_000.0 // of a cluster
	growUse        = 0.7     // of that, when all are placed
)

// placed returns the loads of clusters when each workspace went to the one that choose names.
func placed(loads []float64, clusters int, choose func(now []float64) int) []float64 {
	now := make([]float64, clusters)
	for _, load := range loads {
		now[choose(now)] += load
	}
	return now
}

// crowded returns the load of the fullest cluster as a part of its capacity, and how many have more than that.
func crowded(now []float64) (fullest float64, over int) {
	for _, load := range now {
		if load > growCapacity {
			over++
		}
	}
	return slices.Max(now) / growCapacity, over
}

func TestThePageOfGrowingHasTheFiguresOfItsSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same figures each time
	loads, sum := make([]float64, growWorkspaces), 0.0
	for i := range loads {
		loads[i] = growMean * rng.ExpFloat64()
		sum += loads[i]
	}
	clusters := int(sum/(growCapacity*growUse)) + 1
	anyOne := func([]float64) int { return rng.IntN(clusters) }
	ofTwo := func(now []float64) int {
		a, b := rng.IntN(clusters), rng.IntN(clusters)
		if now[b] < now[a] {
			return b
		}
		return a
	}
	least := func(now []float64) int { return slices.Index(now, slices.Min(now)) }
	page, err := os.ReadFile(filepath.Join("docs", "growing.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d clusters", clusters); !strings.Contains(string(page), want) {
		t.Errorf("the page lacks %q", want)
	}
	for _, way := range []struct {
		name   string
		choose func([]float64) int
	}{{"any cluster, as a hash of the name does", anyOne}, {"the emptier of any two", ofTwo}, {"the emptiest of all", least}} {
		fullest, over := crowded(placed(loads, clusters, way.choose))
		if want := fmt.Sprintf("| %s | %.0f %% | %d |", way.name, 100*fullest, over); !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
