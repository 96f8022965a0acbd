# Shortcuts; nothing here that the two commands in CONTRIBUTING.md cannot do.
.DEFAULT_GOAL := help
.PHONY: help test generate lint ci

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## Run the quick tests
	go test ./...

generate: ## Rewrite everything that is generated
	go generate ./...

lint: ## Run vet and the linters
	.ci/run vet lint

ci: ## Run everything that CI runs
	.ci/run
