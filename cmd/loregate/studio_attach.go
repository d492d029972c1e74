package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"loregate/internal/studio/blender"
	"loregate/internal/studio/build"
	"loregate/internal/studio/spec"
)

type studioAttachCmd struct {
	File string `arg:"" help:"File of the add-on, such as loregate_attach.py. Its secret is written beside it."`
	Port int    `help:"Port of this machine on which the open Blender listens." default:"9877"`
}

// secretFile returns the file of an add-on's secret.
func secretFile(addOn string) string { return strings.TrimSuffix(addOn, ".py") + ".secret" }

// attachSecret is the content of the file with the secret.
type attachSecret struct {
	Port   int    `json:"port"`
	Secret string `json:"secret"`
}

func (a studioAttachCmd) Run(_ context.Context, out io.Writer) error {
	if a.Port < 1024 || a.Port > 65535 {
		return fmt.Errorf("port: %d is not allowed; give a port from 1024 to 65535", a.Port)
	}
	secret := attachSecret{a.Port, rand.Text()}
	b, err := json.Marshal(secret)
	if err != nil {
		return err
	}
	if err := os.WriteFile(secretFile(a.File), b, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(a.File, blender.AddOn(a.Port, secret.Secret), 0o600); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "The add-on is in %s. Install it in Blender (Edit, Preferences, Add-ons), then run\n"+
		"loregate studio live SCENE.yaml --add-on %s\nIt takes one connection; make a new add-on for another.\n", a.File, a.File)
	return err
}

type studioLiveCmd struct {
	Files []string `arg:"" optional:"" help:"Scenes in the language of scene_spec, to build as collections."`
	AddOn string   `help:"File of the add-on that \"loregate studio attach\" wrote." required:"" placeholder:"FILE"`
}

func (l studioLiveCmd) Run(ctx context.Context, out io.Writer) (err error) {
	b, err := os.ReadFile(secretFile(l.AddOn))
	if err != nil {
		return err
	}
	var secret attachSecret
	if err := json.Unmarshal(b, &secret); err != nil {
		return fmt.Errorf("%s: %w", secretFile(l.AddOn), err)
	}
	a, err := blender.Attach(ctx, secret.Port, secret.Secret)
	if err != nil {
		return err
	}
	defer func() {
		if e := a.Close(); err == nil {
			err = e
		}
	}()
	for _, file := range l.Files {
		if err := buildLive(ctx, a, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		fmt.Fprintf(out, "%s was built.\n", file)
	}
	selected, err := a.Do(ctx, json.RawMessage(`{"op":"selection"}`))
	if err == nil {
		_, err = fmt.Fprintf(out, "selected: %s\n", selected[0])
	}
	return err
}

func buildLive(ctx context.Context, a *blender.Attached, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s, err := spec.Parse(text)
	if err != nil {
		return err
	}
	m, err := build.Build(s, nil)
	if err != nil {
		return err
	}
	return a.Build(ctx, m)
}
