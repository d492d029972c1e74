package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"loregate/internal/app"
)

type modelCmd struct {
	Install modelInstallCmd `cmd:"" help:"Install an embedding model of your own: a folder of model2vec, or word vectors as text."`
	List    modelListCmd    `cmd:"" help:"List the installed models."`
	Remove  modelRemoveCmd  `cmd:"" help:"Remove an installed model."`
}

type modelInstallCmd struct {
	common
	File string `arg:"" help:"Folder with model.safetensors and tokenizer.json, or a file of word vectors." placeholder:"FILE"`
	Name string `help:"Name of the model. Default: that of the file." placeholder:"NAME"`
}

func (c modelInstallCmd) Run(_ context.Context, out io.Writer) error {
	cfg, err := c.loadConfig()
	if err != nil {
		return err
	}
	m, err := app.InstallModel(cfg, c.File, c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d %s, %d numbers each, %d KB\n", m.Name, m.Rows, m.Kind, m.Length, m.Bytes>>10)
	switch {
	case m.InUse:
		fmt.Fprintln(out, "Searches use it after the next start.")
	case cfg.Embedding.URL != "":
		fmt.Fprintln(out, "Searches use the model at embedding.url; to use this one, remove that setting.")
	default:
		fmt.Fprintf(out, "To use it, set embedding.model to %s.\n", m.Name)
	}
	return nil
}

type modelListCmd struct{ common }

func (c modelListCmd) Run(_ context.Context, out io.Writer) error {
	cfg, err := c.loadConfig()
	if err != nil {
		return err
	}
	all, err := app.ListModels(cfg)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "No model is installed. Install one with loregate model install FILE; see docs/models.md.")
		return nil
	}
	w := tabwriter.NewWriter(out, 2, 2, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tKIND\tTOKENS\tNUMBERS\tKB\tIN USE")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%t\n", m.Name, m.Kind, m.Rows, m.Length, m.Bytes>>10, m.InUse)
	}
	return w.Flush()
}

type modelRemoveCmd struct {
	common
	Name string `arg:"" help:"Name of the model." placeholder:"NAME"`
}

func (c modelRemoveCmd) Run(_ context.Context, out io.Writer) error {
	cfg, err := c.loadConfig()
	if err != nil {
		return err
	}
	if err := app.RemoveModel(cfg, c.Name); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is removed.\n", c.Name)
	return nil
}
