// Package studiotest plays scenes with the studio on the whole product, as an MCP client and with
// real programs. Without the programs its tests are skipped with a message; REQUIRE_ENGINES=1 makes
// them fail instead.
package studiotest
