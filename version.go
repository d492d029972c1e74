// Package loregate holds the version of the program.
package loregate

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var version string

// Version returns the semantic version of the sources, as the file VERSION has it.
func Version() string { return strings.TrimSpace(version) }
