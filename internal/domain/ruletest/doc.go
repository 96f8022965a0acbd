// Package ruletest is the harness for the tests of rules: one stream in memory, to which commands are given.
//
// Start reading at [Stream].
package ruletest
