package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/unpack"
	"loregate/internal/fault"
)

// importPlan returns the hash that binds a dry run to its import. It covers everything that an import
// depends on: the program, the format, the options, the files and the last commit of the world.
func (a *App) importPlan(ctx context.Context, f exchange.Format, w access.WorldID, src *unpack.Source,
	o ImportOptions) (string, error) {
	h := sha256.New()
	o.Vault.GMFolders = a.Config.Import.GMFolders
	o.DryRun, o.Plan, o.Progress = false, "", nil
	options, err := json.Marshal([]any{a.Version, f.Name, src.Label, src.File, o})
	if err != nil {
		return "", fmt.Errorf("options of the import: %w", err)
	}
	fmt.Fprintf(h, "%s\n", options)
	heads, err := a.Canon.Moved(ctx, map[access.WorldID]canon.Head{})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%s %s\n", w, heads[w].Hash)
	for _, name := range exchange.NewPeek(src.Files, "").Paths() {
		// A table may have a file beside it that describes its columns.
		if src.File != "" && name != src.File && !strings.HasPrefix(name, src.File+".") {
			continue
		}
		if err := hashFile(h, src.Files, name); err != nil {
			return "", fault.New(fault.Invalid, "import: %q cannot be read", name).Because(err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// hashFile writes the name and the hash of a file.
func hashFile(to io.Writer, files fs.FS, name string) error {
	f, err := files.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "%q %x\n", name, h.Sum(nil))
	return err
}

// checkImportPlan computes the plan of an import if it is a dry run or bound to one. It refuses an import that
// is not the one of its dry run.
func (a *App) checkImportPlan(ctx context.Context, f exchange.Format, w access.WorldID, src *unpack.Source,
	o ImportOptions) (plan string, err error) {
	if !o.DryRun && o.Plan == "" {
		return "", nil
	}
	if plan, err = a.importPlan(ctx, f, w, src, o); err != nil {
		return "", err
	}
	if o.Plan != "" && o.Plan != plan {
		return "", fault.New(fault.Conflict, "import: the source, the options or the world have changed since the dry run "+
			"%s, so that other things would happen; nothing was changed. Repeat --dry-run", o.Plan)
	}
	return plan, nil
}
