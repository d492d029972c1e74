//go:build !unix

package cputest

import "time"

// Used is not available on this system and returns 0.
func Used() time.Duration { return 0 }
