package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
)

type auditCmd struct {
	Tail   auditTailCmd   `cmd:"" help:"Print the latest access records as JSON, one per line."`
	Verify auditVerifyCmd `cmd:"" help:"Verify the hash chains of all streams, and name every world whose commits are lost, and the first broken segment."`
}

type auditTailCmd struct {
	common
	Lines  int  `short:"n" help:"Number of records." default:"20"`
	Follow bool `short:"f" help:"Keep printing new records until you stop the command."`
}

func (t auditTailCmd) Run(ctx context.Context, out io.Writer) error {
	return t.withStore(ctx, func(a *app.App) error {
		e := json.NewEncoder(out)
		for r, err := range a.AccessTail(ctx, access.TailOptions{Last: t.Lines, Follow: t.Follow}) {
			if err != nil {
				return err
			}
			if err := e.Encode(r); err != nil {
				return err
			}
		}
		return nil
	})
}

type auditVerifyCmd struct {
	common
	Against string `help:"Folder or file with heads that serve wrote outside the store (setting witness.folder). A store that was cut back, forked or exchanged since is found." placeholder:"PATH"`
}

func (v auditVerifyCmd) Run(ctx context.Context, out io.Writer) error {
	return v.withStore(ctx, func(a *app.App) error {
		report, err := a.Verify(ctx, v.Against)
		fmt.Fprint(out, report)
		return err
	})
}

type rebuildCmd struct {
	common
	World  string `help:"World by slug or UUID. Default: all worlds." placeholder:"WORLD"`
	Repair bool   `help:"Keep the recreated tables of worlds that differ. Without this flag nothing is changed."`
}

func (r rebuildCmd) Run(ctx context.Context, out io.Writer) error {
	repair := canon.CompareOnly
	if r.Repair {
		repair = canon.KeepRebuilt
	}
	return r.withStore(ctx, func(a *app.App) error {
		results, err := a.Rebuild(ctx, r.World, repair)
		if err != nil {
			return err
		}
		different := 0
		for _, res := range results {
			if len(res.Different) == 0 {
				fmt.Fprintf(out, "%s: %d commits give %d rows, identical\n", res.World.Slug, res.Commits, res.Rows)
				continue
			}
			different++
			fmt.Fprintf(out, "%s: %d commits give %d rows; different: %v\n", res.World.Slug, res.Commits, res.Rows,
				res.Different)
		}
		if different > 0 && !r.Repair {
			return fmt.Errorf("%d of %d worlds differ from their streams; run loregate rebuild --repair to keep the tables "+
				"made from the streams", different, len(results))
		}
		return nil
	})
}

type purgeCmd struct {
	common
	Card    string `arg:"" help:"Card by name, ~id or :codename."`
	Version uint32 `help:"Version number, as the history shows it to an admin." required:""`
	World   string `env:"LOREGATE_WORLD" help:"World by slug or UUID. Default: the only world." placeholder:"WORLD"`
	Yes     bool   `help:"Erase without asking. Erased content cannot be restored." required:""`
}

func (p purgeCmd) Run(ctx context.Context, _ io.Writer) error {
	return p.withStore(ctx, func(a *app.App) error { return a.Purge(ctx, p.World, p.Card, p.Version) })
}

type backupCmd struct {
	common
	Path  string        `arg:"" help:"File to write. It must not exist yet. With --every, a folder."`
	Every time.Duration `help:"Keep running, and write a backup at this interval (1m or more) into the folder." placeholder:"1h"`
	Keep  int           `help:"Number of backups to keep in the folder, with --every." default:"24"`
}

func (b backupCmd) Run(ctx context.Context, out io.Writer) error {
	return b.withStore(ctx, func(a *app.App) error {
		if b.Every != 0 {
			return a.BackupEvery(ctx, b.Path, b.Every, b.Keep, func(path, sum string, err error) {
				if err != nil {
					slog.Error("a backup failed; the next one is due as usual", "path", path, "error", err)
					return
				}
				fmt.Fprintf(out, "%s  %s\n", sum, path)
			})
		}
		sum, err := a.Backup(ctx, b.Path)
		return printResult(out, err, "%s  %s\n", sum, b.Path)
	})
}
