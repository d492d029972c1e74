package studio_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"loregate/internal/studio"
	"loregate/internal/studio/spec"
)

// paper is an adapter whose scenes are lists of names in a file. It supports everything that the
// control plane needs, without a program, and fails on request.
type paper struct {
	kind    string
	version string
	mu      sync.Mutex // guards the fields below
	fail    error      // of the next call
	hold    chan struct{}
	entered chan struct{}
	lie     bool // a read-only call changes the scene
	late    bool // hold blocks a call at its end instead of its beginning
}

func (p *paper) Kind() string { return p.kind }

func (p *paper) Tools() map[string]studio.Support {
	all := map[string]studio.Support{}
	for _, name := range []string{"generate_scene", "add_object", "generate_terrain", "generate_texture", "populate_level",
		"export_asset",
		"generate_blueprint", "profile_performance", "render_preview", "list_objects"} {
		all[name] = studio.Support{Does: p.kind == "blender", Note: "on paper"}
	}
	all["import_asset"] = studio.Support{Does: p.kind != "blender", Note: "on paper"}
	return all
}

func (p *paper) Probe(context.Context) (studio.TargetInfo, error) {
	if p.version == "" {
		return studio.TargetInfo{}, studio.Fail(studio.Missing, "paper is not installed; buy some")
	}
	return studio.TargetInfo{Kind: p.kind, Name: p.kind, Version: p.version}, nil
}

func (p *paper) Open(at studio.Place) (studio.Target, error) { return p.sheet(at), nil }

func (p *paper) sheet(at studio.Place) *sheet {
	return &sheet{paper: p, at: at, past: studio.Journal[line]{File: filepath.Join(at.Dir, "sheet.ndjson")}}
}

type line struct {
	Run    string   `json:"run"`
	Names  []string `json:"names"`
	Undoes string   `json:"undoes,omitempty"`

	Scenes []*spec.Scene `json:"scenes,omitempty"`
}

// RunIDs returns the run's id and the id of the run that it undid.
func (l line) RunIDs() (run, undoes string) { return l.Run, l.Undoes }

type sheet struct {
	paper *paper
	at    studio.Place
	past  studio.Journal[line]
}

func (s *sheet) Begin(ctx context.Context, known func(string) bool) (studio.Txn, error) {
	info, err := s.paper.Probe(ctx)
	if err != nil {
		return nil, err
	}
	info.Name = s.at.Name
	if err := s.past.Load(known); err != nil {
		return nil, err
	}
	names, scenes := s.present()
	return &pencil{sheet: s, info: info, names: names, scenes: scenes}, nil
}

func (s *sheet) present() ([]string, []*spec.Scene) {
	if force := s.past.Active(); len(force) > 0 {
		last := force[len(force)-1]
		return slices.Clone(last.Names), slices.Clone(last.Scenes)
	}
	return nil, nil
}

func (s *sheet) Fork(_ context.Context, at studio.Place, keep func(string) bool) (studio.Target, error) {
	f := s.paper.sheet(at)
	return f, s.past.Copy(&f.past, keep)
}

func (s *sheet) Close() {}

type pencil struct {
	*sheet
	info  studio.TargetInfo
	names []string
	undid string

	scenes []*spec.Scene
}

func (p *pencil) Info() studio.TargetInfo { return p.info }

func (p *pencil) Runs() []string { return p.past.Runs() }

func (p *pencil) Digest(context.Context) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(p.names, "\n")))
	return hex.EncodeToString(sum[:]), nil
}

func (p *pencil) Names(context.Context) ([]string, error) { return slices.Clone(p.names), nil }

func (p *pencil) Scenes(context.Context) ([]*spec.Scene, error) { return slices.Clone(p.scenes), nil }

func (p *pencil) Do(ctx context.Context, w *studio.Work) (any, error) {
	a := p.paper
	a.mu.Lock()
	fail, hold, entered, lie, late := a.fail, a.hold, a.entered, a.lie, a.late
	a.fail = nil
	a.mu.Unlock()
	if entered != nil && !late {
		entered <- struct{}{}
	}
	if hold != nil && !late {
		select {
		case <-hold:
		case <-ctx.Done():
			p.names = append(p.names, "half")
			return nil, ctx.Err()
		}
	}
	if late {
		defer func() { entered <- struct{}{}; <-hold }()
	}
	if lie {
		p.names = append(p.names, "sneaked in")
	}
	w.Progress(1, 2, "drawing")
	switch w.Tool {
	case "generate_scene":
		in, err := studio.Read[studio.SceneIn](w)
		if err != nil {
			return nil, err
		}
		if in.Replace {
			p.names, p.scenes = nil, nil
		}
		name := "scene"
		if in.Spec != "" {
			s, err := w.Scene(ctx, in.Spec)
			if err != nil {
				return nil, err
			}
			name, p.scenes = s.Name, append(p.scenes, s)
		}
		if w.Card != nil {
			name = w.Card.Name + ": " + w.Card.Text
		}
		p.names = append(p.names, name)
		return studio.SceneOut{SceneID: name, Objects: 1, Features: []string{}}, fail
	case "add_object":
		in, err := studio.Read[studio.ObjectIn](w)
		if err != nil {
			return nil, err
		}
		p.names = append(p.names, in.Name)
		return studio.ObjectOut{Name: in.Name, ID: in.Name}, fail
	case "export_asset":
		in, err := studio.Read[studio.ExportIn](w)
		if err != nil {
			return nil, err
		}
		if in.Path != "" {
			if err := w.Write(in.Path, []byte("export"), in.Overwrite); err != nil {
				return nil, err
			}
		}
		id, err := w.Keep(ctx, studio.OutputFile{Kind: "export", Name: "x.glb", Media: "model/gltf-binary"},
			fmt.Appendf(nil, "%d %v", w.Seed, p.names))
		return studio.ExportOut{Export: id, Format: in.Format, Materials: []string{}, Manifest: id}, errors.Join(err, fail)
	case "render_preview":
		id, err := w.Keep(ctx, studio.OutputFile{Kind: "preview", Name: "preview.png", Media: "image/png"}, []byte("\x89PNG"))
		return studio.RenderOut{Preview: id, Width: 16, Height: 16}, errors.Join(err, fail)
	}
	return studio.ListOut{Objects: []studio.Object{}, Total: len(p.names)}, fail
}

func (p *pencil) Undo(_ context.Context, run string) error {
	if there, err := p.past.Undo(run, p.at.Name); err != nil || !there {
		return err
	}
	p.undid = run
	p.names, p.scenes = p.present()
	return nil
}

func (p *pencil) Commit(_ context.Context, run string) error {
	if names, _ := p.present(); p.undid == "" && slices.Equal(p.names, names) {
		return nil
	}
	return p.past.Append(line{Run: run, Names: p.names, Undoes: p.undid, Scenes: p.scenes})
}

func (p *pencil) Rollback(context.Context) error {
	p.past.IncludeAll()
	p.names, p.scenes = p.present()
	return nil
}
