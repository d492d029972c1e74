package app

import (
	"context"
	"crypto/rand"
	"fmt"
)

// secret is a key of size bytes that every process on the store shares. random draws it
// where it is not there yet; nil is crypto/rand.
func (a *App) secret(ctx context.Context, name string, size int, random func([]byte)) ([]byte, error) {
	fresh := make([]byte, size)
	if random == nil {
		random = func(b []byte) { _, _ = rand.Read(b) } // it never fails
	}
	random(fresh)
	key, err := a.store.Secret(ctx, name, fresh)
	if err != nil {
		return nil, fmt.Errorf("the secret %q of this store: %w", name, err)
	}
	return key, nil
}
