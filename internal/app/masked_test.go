package app

import (
	"reflect"
	"strings"
	"testing"
)

// TestDoctorShowsNoCredential gives every setting a value that contains one, and looks for it in the output.
func TestDoctorShowsNoCredential(t *testing.T) {
	const hush = "hush-hush"
	for _, value := range []string{
		"https://ada:" + hush + "@example.org/v1", "https://" + hush + "@example.org", "https://example.org/?token=" + hush,
		"https://example.org/#" + hush, "postgres://ada:" + hush + "@db1:5432,db2:5432/lore?sslmode=require",
		"postgres://ada:" + hush + "/@:" + hush + "@db1/lore", "postgres://ada@db1/lore?password=" + hush,
		"postgres://ada@db1/lore?sslmode=require&pass%77ord=" + hush, "east=postgresql://ada:" + hush + "@db4/lore",
	} {
		var c Config
		_ = eachSetting(&c, func(s setting) error { // the callback never fails
			switch s.value.Kind() {
			case reflect.String:
				s.value.SetString(value)
			case reflect.Slice:
				if s.value.Type().Elem().Kind() == reflect.String {
					s.value.Set(reflect.ValueOf([]string{value}))
				}
			}
			return nil
		})
		var out strings.Builder
		d := &doctor{out: &out}
		d.printSettings(c)
		if strings.Contains(out.String(), hush) || !strings.Contains(out.String(), "database ") {
			t.Errorf("%s is shown:\n%s", value, out.String())
		}
	}
	c := Config{Embedding: Embedding{Key: hush}}
	var out strings.Builder
	(&doctor{out: &out}).printSettings(c)
	if !strings.Contains(out.String(), "[set]") || strings.Contains(out.String(), hush) {
		t.Errorf("a secret is shown as\n%s", out.String())
	}
}

// TestSettingsThatAreSecretsHaveTheType finds settings by the documentation: one that is a key, a password or a secret
// itself has the type Secret; others name a variable or a file that contains it.
func TestSettingsThatAreSecretsHaveTheType(t *testing.T) {
	var c Config
	_ = eachSetting(&c, func(s setting) error { // the callback never fails
		name := s.path[strings.LastIndex(s.path, ".")+1:]
		isSecret := name == "key" || name == "password" || name == "secret" || name == "token"
		if _, typed := s.value.Interface().(Secret); isSecret && !typed && !strings.HasPrefix(s.doc, "File ") {
			t.Errorf("%s has the type %s", s.path, s.value.Type())
		}
		return nil
	})
}

func TestMaskedAddresses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"./loregate-data", "./loregate-data"},
		{"a text with @ and :", "a text with @ and :"},
		{"postgres:///lore?host=/var/run/postgresql", "postgres:///lore?host=/var/run/postgresql"},
		{"postgres://ada@db1:5432,db2:5432/lore?target_session_attrs=read-write",
			"postgres://ada@db1:5432,db2:5432/lore?target_session_attrs=read-write"},
		{"postgres://ada:x@db1/lore", "postgres://ada:xxxxx@db1/lore"},
		{"east=postgres://ada:x@db1/lore?user=b&options=c", "east=postgres://ada:xxxxx@db1/lore?user=xxxxx&options=xxxxx"},
		{"https://ada:x@example.org/v1?a=b", "https://xxxxx@example.org/v1?a=xxxxx"},
	} {
		if got := maskAddress(c.in); got != c.want {
			t.Errorf("%s is shown as %s, want %s", c.in, got, c.want)
		}
	}
}

func TestTrustedProxies(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		want    string // of the ranges, or of the error
	}{
		{"no proxy", nil, ""},
		{"loopback unless named", []string{"LOREGATE_BEHIND_PROXY=true"}, "127.0.0.0/8 ::1/128"},
		{"named ones alone", []string{"LOREGATE_BEHIND_PROXY=true",
			"LOREGATE_TRUSTED_PROXIES=10.0.0.7,fd00::/64,::ffff:10.0.0.8"},
			"10.0.0.7/32 fd00::/64 10.0.0.8/32"},
		{"not without a proxy", []string{"LOREGATE_TRUSTED_PROXIES=10.0.0.7"}, "behind_proxy"},
		{"no host name", []string{"LOREGATE_BEHIND_PROXY=true", "LOREGATE_TRUSTED_PROXIES=caddy"}, "trusted_proxies"},
		{"not everybody", []string{"LOREGATE_BEHIND_PROXY=true", "LOREGATE_TRUSTED_PROXIES=0.0.0.0/0"}, "trusted_proxies"},
	} {
		config, err := LoadConfig("", c.environ)
		if err != nil {
			if c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var got []string
		for _, p := range config.trustedProxies() {
			got = append(got, p.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
