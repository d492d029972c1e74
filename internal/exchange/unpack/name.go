package unpack

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits of one name.
const (
	maxName  = 1024 // bytes
	maxDepth = 32   // folders
)

// devices are the names that Windows reserves in every folder, with any extension.
var devices = map[string]bool{"con": true, "prn": true, "aux": true, "nul": true, "conin$": true, "conout$": true,
	"clock$": true}

// nameProblem returns the reason for which the path of an entry is refused, or "".
func nameProblem(name string) string {
	switch {
	case name == "" || len(name) > maxName:
		return "its name is empty or longer than 1024 bytes"
	case !utf8.ValidString(name):
		return "its name is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "its name contains control characters"
	case strings.HasPrefix(name, "/") || strings.Contains(name, "\\"):
		return "its name is absolute or contains a backslash"
	case path.Clean(name) != strings.TrimSuffix(name, "/"):
		return "its name leaves its folder or is not in its shortest form"
	}
	parts := strings.Split(strings.TrimSuffix(name, "/"), "/")
	if len(parts) > maxDepth {
		return "it is nested in more than 32 folders"
	}
	for _, part := range parts {
		if part == ".." || part == "." {
			return "its name leaves its folder"
		}
		if problem := partProblem(part); problem != "" {
			return problem
		}
	}
	return ""
}

// partProblem checks one part of a path against the rules of Windows.
func partProblem(part string) string {
	stem, _, _ := strings.Cut(strings.ToLower(norm.NFKC.String(part)), ".")
	stem = strings.TrimRight(stem, " ")
	port := len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
		stem[3] >= '0' && stem[3] <= '9'
	switch {
	case devices[stem] || port:
		return "its name is that of a device on Windows"
	case strings.ContainsAny(part, `<>:"|?*`):
		return `its name contains one of <>:"|?*, which Windows does not allow`
	case strings.TrimRight(part, ". ") != part:
		return "its name ends with a dot or a space, which Windows removes"
	}
	return ""
}

// collisionKey returns the form in which systems that ignore case or the normal form compare names.
func collisionKey(name string) string {
	return cases.Fold().String(norm.NFKC.String(strings.TrimSuffix(name, "/")))
}
