package app

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
)

func TestLoadConfigPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loregate.yaml")
	os.WriteFile(file, []byte("addr: 127.0.0.1:1\ntoken:\n  life: 45m\nimport:\n  gm_folders: [Hidden]\n"), 0o600)
	c, err := LoadConfig(file, []string{"LOREGATE_ADDR=127.0.0.1:2", "LOREGATE_KEY_MINE=x", "PATH=/bin"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Addr != "127.0.0.1:2" || c.Token.Life != 45*time.Minute || c.Data != "./loregate-data" ||
		c.Import.GMFolders[0] != "Hidden" || c.Limits.Lists != 300 {
		t.Errorf("%+v", c)
	}
}

// serve --sample raises the default of limits.calls. A value in the file or in a variable overrides
// it, also if that value is the usual default.
func TestSampleDefaultsAreOnlyDefaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loregate.yaml")
	os.WriteFile(file, []byte("limits:\n  calls: 60\n"), 0o600)
	for _, tc := range []struct {
		file, env string
		calls     int
	}{{"", "", 600}, {file, "", 60}, {"", "LOREGATE_LIMITS_CALLS=7", 7}, {file, "LOREGATE_LIMITS_CALLS=7", 7}} {
		c, err := LoadConfig(tc.file, []string{tc.env}, SampleDefaults()...)
		if err != nil || c.Limits.Calls != tc.calls || c.Limits.Writes != 20 {
			t.Errorf("%+v: %d calls, %d writes, %v", tc, c.Limits.Calls, c.Limits.Writes, err)
		}
		c.Data = t.TempDir()
		var passed atomic.Int64
		began := time.Now()
		a, err := Open(t.Context(), c, Options{Profile: access.ProfileSample,
			Now: func() time.Time { return began.Add(time.Duration(passed.Load())) }})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ok := true; ok && n < 700; n++ { // ten a second
			passed.Add(int64(100 * time.Millisecond))
			_, ok = a.limits.Take("key", "", access.ClassCall)
		}
		a.Close(t.Context())
		if most := tc.calls + tc.calls/5 + 1; n < tc.calls || n > most && tc.calls < 600 {
			t.Errorf("%+v: %d calls, want %d to %d", tc, n, tc.calls, most)
		}
	}
}

const placedConfig = "database: postgres://a/b\ndatabases: [east=postgres://b/c]\n"

func TestLoadConfigRefusesUnknownAndUnreadable(t *testing.T) {
	for _, tc := range []struct{ file, env, want string }{
		{"adr: x\n", "", `unknown setting "adr"; did you mean "addr"`},
		{"token:\n  live: 20m\n", "", `did you mean "token.life"`},
		{"token: 5\n", "", "must contain settings"},
		{"addr: a\naddr: b\n", "", "addr"},
		{"limits:\n  calls: many\n", "", "cannot be read as a number"},
		{"token:\n  life: 2h\n", "", "between 15m and 60m"},
		{"allow_from: [ten]\n", "", "not an address range"},
		{"tls:\n  cert: a.pem\n", "", "set together"},
		{"memory: 10\n", "", "at least 64"},
		{"admin:\n  address: 0.0.0.0:6060\n", "", "other machines can reach 0.0.0.0:6060"},
		{"admin:\n  address: lore.example:6060\n", "", "other machines can reach"},
		{"admin:\n  address: \":6060\"\n", "", "other machines can reach"},
		{"admin:\n  address: 127.0.0.1.evil.example:1\n", "", "other machines can reach"},
		{"admin:\n  address: 6060\n", "", "does not have the form host:port"},
		{"admin:\n  address: \"127.0.0.1:\"\n", "", "does not have the form host:port"},
		{placedConfig + "databases_direct: [west=postgres://b/c]\n", "", "names no database"},
		{placedConfig + "databases_direct: [home=postgres://b/c]\n", "", "names no database"},
		{placedConfig + "databases_direct: [east=b]\n", "", "write east=postgres://"},
		{placedConfig + "databases_direct: [east=postgres://b/c, east=postgres://b/d]\n", "", "two addresses"},
		{"", "LOREGATE_LIMITS_WRITE=5", "did you mean LOREGATE_LIMITS_WRITES"},
		{"", "LOREGATE_LIMITS_WRITES=few", "cannot be read as a number"},
		{"", "LOREGATE_ADDR=nowhere", "host:port"},
	} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		os.WriteFile(file, []byte(tc.file), 0o600)
		_, err := LoadConfig(file, []string{tc.env})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("file %q, env %q: %v, want %q", tc.file, tc.env, err, tc.want)
		}
	}
}

// The memory setting is divided between the heap and the page caches. With a database, which has
// its own caches, the heap gets all of it.
func TestMemoryIsDividedBetweenHeapAndCaches(t *testing.T) {
	c, err := LoadConfig("", []string{"LOREGATE_MEMORY=200"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Heap() != 125<<20 || c.pageCacheKiB() != 75<<10 {
		t.Errorf("of 200 MiB the heap has %d bytes and page caches %d KiB", c.Heap(), c.pageCacheKiB())
	}
	if c.Database = "postgres://localhost/lore"; c.Heap() != 200<<20 || c.pageCacheKiB() != 0 {
		t.Errorf("beside a database the heap has %d bytes and page caches %d KiB", c.Heap(), c.pageCacheKiB())
	}
}
