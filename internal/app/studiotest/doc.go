// Package studiotest plays scenes with the studio on the whole product, as a client of MCP
// and on real programs. Without them its tests are skipped, and say so; REQUIRE_ENGINES=1
// makes that a failure.
package studiotest
