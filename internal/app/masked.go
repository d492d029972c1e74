package app

import (
	"fmt"
	"net/url"
	"strings"

	"loregate/internal/slicesx"
)

// Secret is a setting that is a secret itself. It prints as a mark, so that neither doctor nor a log shows it.
type Secret string

// String returns a mark for a secret that is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[set]"
}

// shownParameters are the parameters of addresses that doctor shows. Any other may hold a credential.
var shownParameters = map[string]bool{"host": true, "port": true, "dbname": true, "target_session_attrs": true,
	"sslmode": true, "sslrootcert": true, "application_name": true, "connect_timeout": true}

// mask returns the text of a setting's value without the credentials in it: a Secret is a mark, and an address
// is shown without its password and without the values of unusual parameters.
func mask(value any) string {
	switch v := value.(type) {
	case string:
		return maskAddress(v)
	case []string:
		return strings.Join(slicesx.Map(v, maskAddress), ", ")
	}
	return fmt.Sprint(value)
}

// maskAddress masks the credentials of a text that is an address, or a name and an address: name=scheme://….
// It reads the text more generously than url.Parse, which knows no list of hosts, so that a password with
// characters that should have been escaped is masked as well.
func maskAddress(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, _, hasPassword := strings.Cut(rest[:at], ":")
		switch {
		case !isDatabaseScheme(scheme):
			user = "xxxxx" // a token may take the place of the user
		case hasPassword:
			user += ":xxxxx"
		}
		rest = user + rest[at:]
	}
	if fragment != "" {
		rest += "#xxxxx"
	}
	where, query, ok := strings.Cut(rest, "?")
	if !ok {
		return scheme + "://" + rest
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err != nil || !shownParameters[plain] {
			pairs[i] = name + "=xxxxx"
		}
	}
	return scheme + "://" + where + "?" + strings.Join(pairs, "&")
}

// HoldsPassword reports whether an argument of a command is the address of a database with a password in it.
func HoldsPassword(argument string) bool {
	scheme, _, ok := strings.Cut(argument, "://")
	return ok && isDatabaseScheme(scheme) && maskAddress(argument) != argument
}

// isDatabaseScheme reports whether a text ends with the scheme of a PostgreSQL address.
func isDatabaseScheme(scheme string) bool {
	return strings.HasSuffix(scheme, "postgres") || strings.HasSuffix(scheme, "postgresql")
}
