package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/wait"
	"loregate/internal/witness"
)

// Witness holds the settings of the statements that are written outside the store.
type Witness struct {
	Folder string        `yaml:"folder" doc:"Folder outside the store, best on another machine and writable only by appending, into which serve writes the signed heads of all chains. loregate audit verify --against FOLDER then finds a store that was cut back, forked or exchanged. Empty: none."`
	Every  time.Duration `yaml:"every" default:"1m" doc:"Interval of the statements, 1s to 24h. Nothing is written if nothing has changed."`
}

func (w Witness) validate() error {
	if w.Every < time.Second || w.Every > 24*time.Hour {
		return errors.New("witness.every: set 1s to 24h")
	}
	return nil
}

// written returns the folder if it holds statements, "" if none are configured.
func (w Witness) written() (folder string, err error) {
	if w.Folder == "" {
		return "", nil
	}
	if names, _ := filepath.Glob(filepath.Join(w.Folder, witness.Files)); len(names) == 0 {
		return "", fmt.Errorf(
			"%s holds no statements yet; serve writes them, or look there for the error in its log",
			w.Folder,
		)
	}
	return w.Folder, nil
}

// stateHeads writes statements until stop is called, which writes a last one and waits.
func (a *App) stateHeads(ctx context.Context) (stop func(), err error) {
	c := a.Config.Witness
	if c.Folder == "" {
		return func() {}, nil
	}
	w, err := a.newWitness()
	if err != nil {
		return nil, err
	}
	return runBehind(ctx, func(ctx context.Context) {
		for {
			if err := w.Write(context.WithoutCancel(ctx)); err != nil {
				a.logger.Error("the heads of the chains could not be written to witness.folder; it is tried again",
					"folder", c.Folder, "error", err)
			}
			if ctx.Err() != nil {
				return
			}
			wait.For(ctx, c.Every)
		}
	}), nil
}

func (a *App) newWitness() (*witness.Writer, error) {
	return witness.NewWriter(witness.Config{Folder: a.Config.Witness.Folder, Process: a.log.Process(), Now: a.now,
		Heads: func(ctx context.Context) ([]canon.StreamHead, access.LogHead, error) {
			heads, err := a.Canon.Heads(ctx)
			return heads, a.log.Head(), err
		},
		Sign: func(ctx context.Context, statement []byte) ([]byte, error) {
			signature, _, err := a.Identity.Seal(ctx, witness.Purpose, statement)
			return signature, err
		},
	})
}

// readStatements reads a file or folder of statements, and reports their number and their signers.
func (a *App) readStatements(ctx context.Context, path string, report *strings.Builder) (*witness.Stated, error) {
	foreign := map[string]bool{}
	stated, err := witness.Read(ctx, path, func(ctx context.Context, statement, signature []byte) (string, error) {
		key, own, err := a.Identity.VerifySeal(ctx, witness.Purpose, statement, signature)
		foreign[key] = !own
		return key, err
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(report, "%d statements until %s about %d streams, unchanged\n", stated.Statements,
		stated.Last.Format(time.RFC3339), len(stated.Streams))
	for _, key := range stated.Keys {
		of := "of this store"
		if foreign[key] {
			of = "that this store does not have; compare it with the one noted elsewhere"
		}
		fmt.Fprintf(report, "signed by key %s, %s\n", key, of)
	}
	return stated, nil
}
