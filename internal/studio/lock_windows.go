package studio

import "context"

// lockFile does nothing: without sessions there, targets are never shared.
func lockFile(context.Context, string) (unlock func(), err error) { return func() {}, nil }
