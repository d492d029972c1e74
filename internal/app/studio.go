package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"loregate/internal/blob"
	"loregate/internal/studio"
	"loregate/internal/studio/blender"
	"loregate/internal/studio/godot"
)

// Studio is what the owner allows the studio, and where its programs are.
type Studio struct {
	Blender          string   `yaml:"blender" default:"blender" doc:"Blender's program: a name on the path, or a file."`
	Godot            string   `yaml:"godot" default:"godot3-server" doc:"Godot's headless program: a name on the path, or a file."`
	Unreal           string   `yaml:"unreal" doc:"Address of an Unreal editor's Remote Control, as http://127.0.0.1:30010; double: the recorded protocol, for tests. Empty: none."`
	AllowDestructive bool     `yaml:"allow_destructive" doc:"Let admins overwrite files and assets, call by call, with confirm."`
	Tools            []string `yaml:"tools" doc:"The only tools that may be called. Empty: all."`
	Targets          []string `yaml:"targets" doc:"The only targets that may be used, by kind or name. Empty: all."`
	Roots            []string `yaml:"roots" doc:"Folders that exports may be written below, as name=folder; a path then begins with the name."`
}

// Check reports settings that cannot be.
func (c Studio) Check() error {
	for _, r := range c.Roots {
		if name, dir, ok := strings.Cut(r, "="); !ok || name == "" || strings.ContainsAny(name, "/\\.") || !filepath.IsAbs(dir) {
			return fmt.Errorf("studio.roots: %q is not name=/absolute/folder", r)
		}
	}
	return nil
}

func (c Studio) policy() studio.Policy {
	p := studio.Policy{AllowDestructive: c.AllowDestructive, Tools: c.Tools, Targets: c.Targets, Roots: map[string]string{}}
	for _, r := range c.Roots {
		name, dir, _ := strings.Cut(r, "=")
		p.Roots[name] = dir
	}
	return p
}

// openStudio makes the studio. No program is started, and none need be there.
func (a *App) openStudio() (err error) {
	if err := a.Config.Studio.Check(); err != nil {
		return err
	}
	dir := filepath.Join(a.Config.Data, "studio")
	if a.blobs, err = blob.Open(filepath.Join(dir, "blobs")); err != nil {
		return err
	}
	a.Studio, err = studio.Open(studio.Config{Canon: a.Canon, Blobs: a.blobs, Dir: dir, Policy: a.Config.Studio.policy(),
		Adapters: []studio.Adapter{blender.New(blender.Config{Binary: a.Config.Studio.Blender}), godot.New(godot.Config{Binary: a.Config.Studio.Godot})},
		Ended:    a.metrics.Run, Now: a.now, Logger: a.logger})
	if err == nil {
		a.Surfaces = append(a.Surfaces, a.Studio.Surface())
	}
	return err
}

// closeStudio stops its runs and programs.
func (a *App) closeStudio() error {
	if a.Studio != nil {
		a.Studio.Close()
	}
	if a.blobs != nil {
		return a.blobs.Close()
	}
	return nil
}
