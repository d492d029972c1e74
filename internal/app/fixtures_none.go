//go:build !conformance

package app

import "loregate/internal/mcpd"

// addFixtures adds nothing: the fixtures of the conformance suite are not part of the product.
func addFixtures(c mcpd.Config) mcpd.Config { return c }
