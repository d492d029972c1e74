package app

import (
	"context"
	"crypto/rand"
	"fmt"
)

// sharedSecret returns a key of size bytes that all processes on the store share.
func (a *App) sharedSecret(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := make([]byte, size)
	if a.secrets != nil {
		a.secrets(fresh)
	} else {
		_, _ = rand.Read(fresh) // it never fails
	}
	key, err := a.store.Secret(ctx, name, fresh)
	if err != nil {
		return nil, fmt.Errorf("the secret %q of this store: %w", name, err)
	}
	return key, nil
}
