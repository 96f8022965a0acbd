//go:build outside

package outside

import "testing"

func TestRedoclyFindsNoErrorInTheDescription(t *testing.T) {
	run(t, installed(t, "node_modules/.bin/node"), installed(t, "node_modules/.bin/redocly"), "lint", "--config", data(t, "redocly.yaml"), data(t, "../../../../../docs/openapi.json"))
}

func TestSpectralFindsNoErrorInTheDescription(t *testing.T) {
	run(t, installed(t, "node_modules/.bin/node"), installed(t, "node_modules/.bin/spectral"), "lint", "--ruleset", data(t, "spectral.yaml"), data(t, "../../../../../docs/openapi.json"))
}
