package archive

import "loregate/internal/op"

// writes are the operations that change cards.
func writes(*deps) []*op.Operation { return nil }
