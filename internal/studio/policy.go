package studio

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// Policy is the set of permissions that the instance's owner grants. The zero Policy allows every
// non-destructive tool on every target, and no file outside the studio's own folder.
type Policy struct {
	AllowDestructive bool
	Tools            []string          // tools that may be called; empty means all
	Targets          []string          // targets that may be used, by kind or name; empty means all
	Roots            map[string]string // folders below which exports may be written, by the first part of a path
	MaxCalls         int               // calls in a plan; 0 is 50
	MaxSeconds       int               // of a run; 0 is 3600
}

// maxCalls bounds the calls of any plan; the policy may only lower it.
const maxCalls = 50

func (p Policy) callLimit() int {
	if p.MaxCalls > 0 {
		return min(p.MaxCalls, maxCalls)
	}
	return maxCalls
}

func (p Policy) secondsLimit() int {
	if p.MaxSeconds > 0 {
		return p.MaxSeconds
	}
	return 3600
}

// checkCall checks one call in this order: the allow-lists, then for a destructive call the
// policy's permission, the caller's role and the caller's confirmation.
func (p Policy) checkCall(t *Tool, target string, role access.Role, input raw, confirm bool) error {
	kind, _, _ := strings.Cut(target, ":")
	switch {
	case len(p.Tools) > 0 && !slices.Contains(p.Tools, t.Name):
		return Fail(PolicyDenied, "the policy does not allow %s here; the operator can allow it with the setting studio.tools", t.Name)
	case len(p.Targets) > 0 && !slices.Contains(p.Targets, target) && !slices.Contains(p.Targets, kind):
		return Fail(PolicyDenied, "the policy does not allow the target %s here; the operator can allow it with the setting studio.targets", target)
	case !t.Destroys(input):
		return nil
	case !p.AllowDestructive:
		return Fail(PolicyDenied,
			"%s would overwrite existing content, which the policy forbids; the operator can allow it with the setting studio.allow_destructive", t.Name)
	case role < access.RoleAdmin:
		return Fail(PolicyDenied, "%s would overwrite existing content, which only an admin may do", t.Name)
	case !confirm:
		return Fail(Confirmation,
			"%s would overwrite existing content; to do so, repeat the call with confirm: true", t.Name)
	}
	return nil
}

// maxPath bounds a path, in bytes.
const maxPath = 400

// checkPath refuses paths that could resolve to another file than their text suggests.
func checkPath(p string) error {
	bad := func(why string) error {
		return Fail(Validation, "path %q %s; use ROOT/name.ext below one of the allowed roots", markup.Shorten(p, 80), why)
	}
	switch {
	case len(p) > maxPath:
		return bad("is too long")
	case strings.ContainsFunc(p, func(r rune) bool {
		return unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r)
	}):
		return bad("contains invisible characters")
	case strings.ContainsAny(p, `\:*?"<>|`):
		return bad(`holds one of \ : * ? " < > |`)
	case !filepath.IsLocal(filepath.FromSlash(p)) || path.Clean(p) != p || strings.HasPrefix(p, "."):
		return bad("is not a plain path below its root")
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") ||
			strings.HasPrefix(part, " ") {
			return bad("has a part that begins or ends with a dot or a space")
		}
	}
	return nil
}

// findRoot splits a path into the folder of its root and the rest.
func (p Policy) findRoot(at string) (dir, rest string, err error) {
	if err := checkPath(at); err != nil {
		return "", "", err
	}
	root, rest, _ := strings.Cut(at, "/")
	dir, ok := p.Roots[root]
	if !ok || rest == "" {
		return "", "", Fail(PolicyDenied,
			"path %q is not below an allowed file root (%s); the operator sets the roots with studio.roots",
			markup.Shorten(at, 80), strings.Join(slices.Sorted(maps.Keys(p.Roots)), ", "))
	}
	return dir, rest, nil
}

// checkWrite checks a path before any work is done: it is below a root, no part of it is a symbolic
// link, no file exists at the path unless overwrite is set, and no existing name differs from it
// only in case.
func (p Policy) checkWrite(at string, overwrite bool) error {
	root, _, err := p.openRoot(at, overwrite)
	if err != nil {
		return err
	}
	return root.Close()
}

// openRoot checks a path for writing and opens its root. It returns the root, which the caller
// closes, and the rest of the path.
func (p Policy) openRoot(at string, overwrite bool) (root *os.Root, rest string, err error) {
	dir, rest, err := p.findRoot(at)
	if err != nil {
		return nil, "", err
	}
	if root, err = os.OpenRoot(dir); err != nil {
		return nil, "", Fail(IOFailed, "the file root of %q cannot be opened; create its folder", markup.Shorten(at, 80)).Because(err)
	}
	if err := checkFree(root, rest, overwrite); err != nil {
		_ = root.Close() // it was opened only for reading
		return nil, "", err
	}
	return root, rest, nil
}

func checkFree(root *os.Root, rest string, overwrite bool) error {
	names := strings.Split(rest, "/")
	for i, name := range names {
		here := path.Join(names[:i]...)
		list, err := fs.ReadDir(root.FS(), path.Clean("./"+here))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return Fail(PolicyDenied, "path %q does not lead to a folder of its root", markup.Shorten(rest, 80)).Because(err)
		}
		for _, e := range list {
			last := i == len(names)-1
			switch {
			case !strings.EqualFold(e.Name(), name):
			case e.Name() != name:
				return Fail(Validation, "path %q differs from an existing file only in case; choose another name",
					markup.Shorten(rest, 80))
			case e.Type()&fs.ModeSymlink != 0:
				return Fail(PolicyDenied, "path %q contains a symbolic link; links are not followed", markup.Shorten(rest, 80))
			case last && !e.Type().IsRegular():
				return Fail(Validation, "path %q is a folder", markup.Shorten(rest, 80))
			case last && !overwrite:
				return Fail(Validation, "path %q already exists; choose another name, or set overwrite", markup.Shorten(rest, 80))
			}
		}
	}
	return nil
}

// readFile reads a file below a root of at most a number of bytes. Links are refused.
func (p Policy) readFile(at string, most int64) ([]byte, error) {
	root, rest, err := p.openRoot(at, true)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(rest)
	if err != nil {
		return nil, Fail(Validation, "path: there is no file %q", markup.Shorten(at, 80)).Because(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, Fail(IOFailed, "the file %q cannot be read", markup.Shorten(at, 80)).Because(err)
	}
	if int64(len(data)) > most {
		return nil, Fail(Validation, "path: the file %q is larger than %d MB", markup.Shorten(at, 80), most>>20)
	}
	return data, nil
}

// writeFile writes to a temporary file beside the path and renames it, so that a reader never sees half a file.
func (p Policy) writeFile(at string, data []byte, overwrite bool) error {
	root, rest, err := p.openRoot(at, overwrite)
	if err != nil {
		return err
	}
	defer root.Close()
	if d := path.Dir(rest); d != "." {
		if err := root.MkdirAll(d, 0o755); err != nil {
			return Fail(IOFailed, "the folder of %q cannot be created", markup.Shorten(at, 80)).Because(err)
		}
	}
	if err := root.WriteFile(rest+".part", data, 0o644); err != nil {
		return Fail(IOFailed, "%q cannot be written", markup.Shorten(at, 80)).Because(err)
	}
	if err := root.Rename(rest+".part", rest); err != nil {
		return Fail(IOFailed, "%q cannot be written", markup.Shorten(at, 80)).Because(err)
	}
	return nil
}
