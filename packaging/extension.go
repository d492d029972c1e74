package main

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"strings"
)

// skills are texts that teach an agent to run a world, one folder a skill.
//
//go:embed files/skills
var skills embed.FS

// extension is the folder that a command-line client installs: how to start the server, and skills.
type extension struct {
	client string
	files  map[string]any // JSON documents by path in the folder
}

// extensions returns the folders of the clients. All of them start the program by its name, so it
// has to be on the PATH.
func (r release) extensions() []extension {
	server := map[string]any{"mcpServers": map[string]any{
		"loregate": command{Command: "loregate", Args: []string{"mcp"}}}}
	about := map[string]any{"name": "loregate", "version": r.version, "description": summary}
	claude := merge(about, map[string]any{"author": author{"Loregate"}, "license": "Apache-2.0"})
	codex := merge(claude, map[string]any{"skills": "./skills/", "mcpServers": "./.mcp.json",
		"interface": map[string]any{"displayName": "Loregate", "shortDescription": summary, "category": "Productivity"}})
	return []extension{
		{"claude", map[string]any{
			".claude-plugin/plugin.json": claude,
			".claude-plugin/marketplace.json": map[string]any{"name": "loregate", "owner": author{"Loregate"},
				"description": summary,
				"plugins": []any{map[string]any{"name": "loregate", "source": "./", "description": summary,
					"version": r.version}}},
			".mcp.json": server,
		}},
		{"codex", map[string]any{
			".agents/plugins/marketplace.json": map[string]any{"name": "loregate",
				"interface": map[string]any{"displayName": "Loregate"},
				"plugins": []any{map[string]any{"name": "loregate",
					"source":   map[string]any{"source": "local", "path": "./plugins/loregate"},
					"policy":   map[string]any{"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
					"category": "Productivity"}}},
			"plugins/loregate/.codex-plugin/plugin.json": codex,
			"plugins/loregate/.mcp.json":                 server,
		}},
		{"gemini", map[string]any{
			"gemini-extension.json": merge(about, server),
		}},
	}
}

// writeExtensions writes each client's folder as a zip.
func (r release) writeExtensions() error {
	for _, x := range r.extensions() {
		entries, err := x.entries()
		if err != nil {
			return err
		}
		name := fmt.Sprintf("loregate_%s_%s-extension.zip", r.version, x.client)
		if err := r.create(name, func(w io.Writer) error { return writeZip(w, entries, r.time) }); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the documents of the folder, and the skills beside the client's manifest.
func (x extension) entries() ([]entry, error) {
	var out []entry
	root := ""
	for name, document := range x.files {
		data, err := encodeJSON(document)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name, data, 0o644})
		if folder, ok := strings.CutSuffix(name, ".mcp.json"); ok {
			root = folder
		}
	}
	err := fs.WalkDir(skills, "files/skills", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := skills.ReadFile(path)
		out = append(out, entry{root + strings.TrimPrefix(path, "files/"), data, 0o644})
		return err
	})
	return out, err
}

// merge returns a document with the members of all.
func merge(documents ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, d := range documents {
		maps.Copy(out, d)
	}
	return out
}
