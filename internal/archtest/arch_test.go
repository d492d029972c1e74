// Package archtest checks the project's imports against a table, and that packages have examples and
// tests do not sleep.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport maps each internal package to the internal packages that it may import. Test files may
// import more. A package without an entry fails the test.
var mayImport = map[string][]string{
	"fault":       {},
	"bound":       {"fault"},
	"disk":        {"fault"},
	"body":        {"disk", "fault"},
	"markup":      {},
	"stem":        {},
	"sandbox":     {},
	"slicesx":     {},
	"lazyregexp":  {},
	"telemetry":   {},
	"access":      {"fault"},
	"identity":    {"access", "fault", "outbound"},
	"op":          {"access", "body", "fault", "markup"},
	"op/optest":   {"op", "access", "fault"},
	"canon":       {"access", "decoded", "fault", "marked", "markup", "media", "secrecy", "slicesx"},
	"media":       {"markup"},
	"job":         {"access", "fault", "wait"},
	"sample":      {},
	"raceenabled": {},
	"cputest":     {},
	"waittest":    {},
	"programtest": {},
	"proxytest":   {},
	"loadtest":    {"wait"},
	"wait":        {},
	"blob":        {"fault"},
	"studio": {"body", "canon", "decoded", "disk", "op", "blob", "job", "markup", "meaning", "telemetry", "access", "fault", "wait",
		"studio/build", "studio/intake", "studio/noise", "studio/phrase", "studio/sentence", "studio/spec"},
	"studio/intake":  {"markup", "studio/gltf"},
	"studio/phrase":  {"meaning"},
	"studio/noise":   {},
	"studio/texture": {"studio/noise"},
	"studio/scene":   {"fault"},
	"studio/gltf":    {},
	"studio/terrain": {"studio/noise", "studio/scene"},
	"studio/spec":    {"decoded", "op", "fault"},
	"studio/builder": {"fault", "studio/noise", "studio/scene"},
	"studio/build": {"fault", "studio/builder", "studio/gltf", "studio/noise", "studio/plant", "studio/scene",
		"studio/spec", "studio/texture"},
	"studio/godot":  {"sandbox", "studio"},
	"studio/native": {"studio", "studio/build", "studio/gltf", "studio/godot4", "studio/spec"},
	"studio/blender": {
		"sandbox",
		"studio",
		"studio/build",
		"studio/builder",
		"studio/gltf",
		"studio/scene",
		"studio/spec",
		"studio/terrain",
		"studio/texture",
	},
	"game/rule":     {"markup", "fault"},
	"game/view":     {"game/rule"},
	"game/player":   {"game/rule", "game/view", "markup", "wait"},
	"game/page":     {"access", "game/rule"},
	"game":          {"canon", "op", "access", "fault", "wait", "game/rule", "game/view", "game/player"},
	"embed":         {"fault"},
	"meaning":       {"stem"},
	"search":        {"disk", "markup", "stem", "store/words"},
	"event":         {"canon", "job", "markup", "access", "fault", "wait"},
	"world":         {"canon", "op", "markup", "stem", "access", "fault", "event", "world/command"},
	"world/command": {"markup", "meaning"},
	"world/intent":  {"world/command", "meaning"},
	"world/lore":    {"world", "canon", "op", "markup", "access", "fault"},
	"world/play": {"world", "world/command", "canon", "event", "op", "proposal", "proposal/kind", "meaning", "markup",
		"access", "fault", "ruleset", "world/market"},
	"world/worldtest": {"world", "world/command", "world/play", "canon", "event", "job", "op", "op/optest",
		"access", "fault", "store/sqlite/sqlitetest"},
	"marked":  {"secrecy", "markup"},
	"surface": {"canon", "op", "markup", "access"},
	"archive": {"body", "surface", "canon", "op", "job", "marked", "markup", "media", "access", "fault", "outbound",
		"slicesx"},
	"front":             {"canon", "op", "marked", "markup", "meaning", "ruleset", "stem", "access", "fault"},
	"campaign":          {"surface", "canon", "op", "marked", "markup", "access", "fault"},
	"exchange":          {"secrecy", "decoded", "bound", "canon", "disk", "marked", "markup", "access", "fault", "wait"},
	"exchange/markdown": {"markup", "decoded", "secrecy", "exchange"},
	"decoded":           {},
	"secrecy":           {"decoded", "markup", "slicesx", "access"},
	"exchange/native": {"decoded", "exchange", "exchange/markdown", "secrecy", "canon", "marked", "markup", "media", "access",
		"fault"},
	"exchange/vault": {"decoded", "exchange", "exchange/markdown", "exchange/native", "secrecy", "canon", "markup",
		"access", "fault"},
	"exchange/unpack":    {"bound", "disk", "fault"},
	"exchange/bundle":    {"exchange", "canon", "access", "fault"},
	"exchange/record":    {"decoded", "exchange", "secrecy", "canon", "marked", "markup", "access", "fault"},
	"exchange/srd":       {"decoded", "exchange", "exchange/record", "canon", "markup", "access"},
	"exchange/light":     {"decoded", "exchange", "exchange/record", "canon", "access"},
	"exchange/ranvier":   {"decoded", "exchange", "exchange/record", "canon", "access"},
	"exchange/foundry":   {"decoded", "secrecy", "exchange", "exchange/record", "canon", "access"},
	"exchange/mapgen":    {"decoded", "exchange", "exchange/record", "exchange/unpack", "canon", "access", "fault"},
	"exchange/textworld": {"secrecy", "decoded", "exchange", "exchange/record", "canon", "access"},
	"exchange/graph":     {"decoded", "exchange", "exchange/record", "canon", "access"},
	"exchange/mediawiki": {"decoded", "exchange", "exchange/record", "canon", "markup", "access", "fault"},
	"exchange/table": {"decoded", "exchange", "exchange/markdown", "exchange/record", "secrecy", "canon", "markup",
		"access",
		"fault"},
	"exchange/planner": {"decoded", "exchange", "exchange/record", "secrecy", "exchange/unpack", "canon", "markup", "access",
		"fault"},
	"exchange/lorebook":     {"secrecy", "decoded", "exchange", "exchange/record", "canon", "markup", "access", "fault"},
	"exchange/turns":        {"decoded", "exchange", "secrecy", "canon", "markup", "access", "fault"},
	"exchange/exchangetest": {"decoded", "exchange", "canon", "op/optest", "access", "store/memory"},
	"remote":                {"op", "access", "fault", "wait"},
	"prompt":                {"op", "disk", "access", "fault"},
	"usage":                 {"canon", "op", "access", "fault"},
	"agent":                 {"proposal", "prompt", "safety", "usage", "op", "markup", "access", "fault", "wait"},
	"model":                 {"agent", "fault", "wait"},
	"vector":                {"canon", "disk", "meaning", "markup", "access", "wait"},
	"safety":                {},
	"claim":                 {"meaning"},
	"proposal":              {"canon", "op", "prompt", "safety", "claim", "meaning", "markup", "access", "fault"},
	"proposal/kind":         {"proposal", "canon", "claim", "op", "safety", "meaning", "markup", "access", "fault"},
	"mcpd":                  {"body", "op", "identity", "access", "fault", "wait", "markup"},
	"member":                {"surface", "canon", "op", "identity", "access", "fault"},
	"console":               {"body", "op", "identity", "access", "fault", "markup", "media"},
	"httpd":                 {"body", "op", "identity", "access", "fault", "markup"},
	"store/group":           {"fault"},
	"store/memory":          {"canon", "markup", "access", "fault", "stem"},
	"store/words":           {"canon", "stem"},
	"store/finder":          {"canon", "meaning", "search", "store/words", "markup", "access", "fault"},
	"store/sqlstore":        {"canon", "search", "store/finder", "identity", "job", "markup", "access"},
	"store/sqlite": {"canon", "disk", "search", "store/finder", "store/group", "markup", "access", "fault",
		"store/sqlstore"},
	"store/postgres": {"canon", "search", "store/finder", "store/group", "markup", "access", "fault", "wait",
		"store/sqlstore"},
	"store/postgres/pgtest":   {"programtest", "proxytest", "wait", "waittest"},
	"store/sqlite/sqlitetest": {"store/sqlite", "store/storetest"},
	"store/storetest":         {"canon", "markup", "access", "fault", "raceenabled", "store/memory", "wait", "waittest"},
	"ruleset":                 {},
	"ruleset/fifth":           {"ruleset"},
	"ruleset/freeform":        {"ruleset"},
	"rules": {
		"canon",
		"op",
		"access",
		"fault",
		"ruleset",
		"ruleset/fifth",
		"ruleset/freeform",
		"slicesx",
	},
	"studio/plant":    {"studio/noise", "studio/scene"},
	"studio/sentence": {"fault", "meaning", "studio/build", "studio/builder", "studio/noise", "studio/spec"},
	"studio/godot4":   {"studio/build", "studio/scene"},
	"witness":         {"canon", "access", "fault"},
	"blob/s3":         {"blob", "fault", "wait"},
	"transfer":        {"body", "exchange", "job", "op", "access", "fault"},
	"world/market":    {"world", "canon", "op", "access", "fault"},
	"outbound":        {},
	"world/faction":   {"world", "canon", "op", "markup", "access", "fault"},
	"store/placed":    {"canon", "access", "fault", "wait", "search", "store/sqlstore"},
}

// free are the packages that may import all others, because they only put parts together.
var free = []string{"app", "archtest"}

// ground are the packages that all others may import, as they import the standard library.
var ground = []string{"slicesx", "lazyregexp"}

func TestImportsPointDown(t *testing.T) {
	seen := map[string]bool{}
	each(t, "../..", func(path string) {
		from, imports := importsOf(t, path)
		if from == "" {
			return
		}
		seen[from] = true
		if slices.ContainsFunc(free, func(f string) bool { return from == f || strings.HasPrefix(from, f+"/") }) {
			return
		}
		allowed, known := lookup(from)
		if !known {
			t.Errorf("%s: package %q is not in the import table", path, from)
		}
		for _, im := range imports {
			if im != from && !slices.Contains(allowed, im) && !slices.Contains(ground, im) {
				t.Errorf("%s: %q may not import %q", path, from, im)
			}
		}
	})
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("the import table speaks of %q, which does not exist", pkg)
		}
	}
}

// Only tests, and the packages that support them, import packages that support tests.
func TestOnlyTestsImportTestSupport(t *testing.T) {
	each(t, "../..", func(path string) {
		from, imports := importsOf(t, path)
		for _, im := range imports {
			if isTestSupport(im) && !isTestSupport(from) {
				t.Errorf("%s imports %s, which supports tests", path, im)
			}
		}
	})
}

// isTestSupport reports whether a package is for tests: its name ends with "test". loadtest is part of
// the product.
func isTestSupport(pkg string) bool {
	name := filepath.Base(pkg)
	return name == "raceenabled" || strings.HasSuffix(name, "test") && name != "loadtest"
}

// ARCHITECTURE.md has a row for every package, and all files that it names exist.
func TestArchitectureNamesExistingPackagesAndFiles(t *testing.T) {
	b, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	tour := string(b)
	rows := map[string]bool{}
	for line := range strings.Lines(tour) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| `") {
			for _, name := range quoted.FindAllStringSubmatch(first, -1) {
				rows[name[1]] = true
			}
		}
	}
	for pkg := range mayImport {
		top, _, below := strings.Cut(pkg, "/")
		if !rows[pkg] && !(below && (rows[top] || rows[top+"/…"])) {
			t.Errorf("ARCHITECTURE.md has no row for %s", pkg)
		}
	}
	for _, name := range quoted.FindAllStringSubmatch(tour, -1) {
		if path := name[1]; strings.HasSuffix(path, ".go") && strings.Contains(path, "/") {
			if _, err := os.Stat("../" + path); err != nil {
				t.Errorf("ARCHITECTURE.md speaks of %s: %v", path, err)
			}
		}
	}
}

// quoted matches inline code in Markdown.
var quoted = regexp.MustCompile("`([^`\\s]+)`")

// lookup returns the entry of a package or of its nearest parent with an entry. A subpackage may
// also import that parent.
func lookup(pkg string) ([]string, bool) {
	for p := pkg; p != "." && p != "/"; p = filepath.Dir(p) {
		if row, ok := mayImport[p]; ok {
			return append(slices.Clone(row), p), true
		}
	}
	return nil, false
}

func TestNoSQLOutsideTheStore(t *testing.T) {
	each(t, "../..", func(path string) {
		if strings.Contains(path, "internal/store/") || strings.Contains(path, "internal/archtest/") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, im := range f.Imports {
			name, _ := strconv.Unquote(im.Path.Value)
			if name == "database/sql" || strings.HasPrefix(name, "modernc.org/") {
				t.Errorf("%s imports %s: SQL stays in the store", path, name)
			}
		}
	})
}

// each calls f for every Go file of the module that is not a test.
func each(t *testing.T, root string, f func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			f(filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// importsOf returns the internal package that a file belongs to ("" outside internal) and the
// internal packages that it imports.
func importsOf(t *testing.T, path string) (from string, imports []string) {
	t.Helper()
	if _, rest, ok := strings.Cut(path, "internal/"); ok {
		from = filepath.ToSlash(filepath.Dir(rest))
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, im := range f.Imports {
		name, err := strconv.Unquote(im.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(name, "loregate/internal/"); ok {
			imports = append(imports, rest)
		}
	}
	return from, imports
}
