package identity_test

import (
	"bytes"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

func TestSealsNameTheirKey(t *testing.T) {
	here, there := newFixture(t), newFixture(t)
	there.rsa.next() // its first key is another one
	text := []byte(`{"lore":1}`)
	seal, key, err := here.Seal(t.Context(), "bundle", text)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := here.another().Seal(t.Context(), "bundle", text); err != nil || !bytes.Equal(seal, again) {
		t.Errorf("the same key and text gave another seal: %s %v", again, err)
	}
	if got, own, err := here.VerifySeal(t.Context(), "bundle", text, seal); err != nil || got != key || !own {
		t.Errorf("own seal: %q %v %v, want %q", got, own, err, key)
	}
	if got, own, err := there.VerifySeal(t.Context(), "bundle", text, seal); err != nil || got != key || own {
		t.Errorf("seal of another store: %q %v %v, want %q", got, own, err, key)
	}
	if _, err := here.RotateSigningKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, own, err := here.VerifySeal(t.Context(), "bundle", text, seal); err != nil || !own {
		t.Errorf("after a rotation: %v %v", own, err)
	}
}

func TestWrongSealsAreRefused(t *testing.T) {
	f := newFixture(t)
	text := []byte(`{"lore":1}`)
	seal, _, err := f.Seal(t.Context(), "bundle", text)
	if err != nil {
		t.Fatal(err)
	}
	_, secret := f.key(identity.KeySpec{})
	token := f.token(secret, access.RoleUser, "main")
	head, _, _ := strings.Cut(string(seal), ".")
	_, sum, _ := strings.Cut(string(seal), "..")
	none := strings.Replace(string(seal), head, "eyJhbGciOiJub25lIn0", 1)
	for name, c := range map[string]struct {
		purpose, text string
		seal          string
	}{
		"another text": {"bundle", `{"lore":2}`, string(seal)}, "another purpose": {"token", string(text), string(seal)},
		"no signature": {"bundle", string(text), head + ".."}, "no algorithm": {"bundle", string(text), none},
		"a token":  {"bundle", string(text), token},
		"half":     {"bundle", string(text), string(seal[:len(seal)/2])},
		"nothing":  {"bundle", string(text), ""},
		"too long": {"bundle", string(text), string(seal) + strings.Repeat("A", 16<<10)},
		"two":      {"bundle", string(text), string(seal) + "." + sum},
	} {
		if _, _, err := f.VerifySeal(t.Context(), c.purpose, []byte(c.text),
			[]byte(c.seal)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
