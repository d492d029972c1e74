//go:build !unix

package benchtest

import "time"

// processTime is not known here.
func processTime() time.Duration { return 0 }
