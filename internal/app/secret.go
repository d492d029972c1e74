package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"unicode"
)

// secretSource names the variable or the file that contains a secret of another service, and the settings that name
// them.
type secretSource struct{ env, file, envSetting, fileSetting string }

// readSecret reads a secret; "" if it has no source. Its error names the setting, and never contains the text that was
// read.
func readSecret(s secretSource) (string, error) {
	var setting, text string
	switch {
	case s.env != "":
		setting, text = s.envSetting, os.Getenv(s.env)
	case s.file != "":
		b, err := os.ReadFile(s.file)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.fileSetting, err)
		}
		setting, text = s.fileSetting, string(b)
	default:
		return "", nil
	}
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 4096 || strings.ContainsFunc(text,
		func(r rune) bool { return r > unicode.MaxASCII || unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", fmt.Errorf("%s: must contain only the secret, which is one word", setting)
	}
	return text, nil
}

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
