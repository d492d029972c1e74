package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// bundleManifest is the manifest of an MCP bundle, version 0.3 of its specification. Desktop clients
// show the questions of UserConfig when the bundle is installed.
type bundleManifest struct {
	ManifestVersion string                    `json:"manifest_version"`
	Name            string                    `json:"name"`
	DisplayName     string                    `json:"display_name"`
	Version         string                    `json:"version"`
	Description     string                    `json:"description"`
	LongDescription string                    `json:"long_description"`
	Author          author                    `json:"author"`
	Server          bundleServer              `json:"server"`
	ToolsGenerated  bool                      `json:"tools_generated"`
	Keywords        []string                  `json:"keywords"`
	License         string                    `json:"license"`
	Compatibility   bundleCompatibility       `json:"compatibility"`
	UserConfig      map[string]bundleQuestion `json:"user_config"`
}

type author struct {
	Name string `json:"name"`
}

type bundleServer struct {
	Type       string  `json:"type"`
	EntryPoint string  `json:"entry_point"`
	Config     command `json:"mcp_config"`
}

// command starts the server for a client.
type command struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

type bundleCompatibility struct {
	Platforms []string `json:"platforms"`
}

// bundleQuestion is a setting that the client asks its user for. The specification has no lists of
// values: the program checks them and refuses a wrong one with a message.
type bundleQuestion struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     string `json:"default"`
}

// bundlePlatforms maps Go's names of systems to those of bundles, which are Node's.
var bundlePlatforms = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}

// bundleName returns the file name of a target's bundle. A manifest can tell systems apart but not
// processors, so each target has a bundle of its own.
func (r release) bundleName(t target) string {
	return fmt.Sprintf("loregate_%s_%s_%s.mcpb", r.version, t.os, t.arch)
}

// writeBundle writes the MCP bundle of a target.
func (r release) writeBundle(t target, program string) error {
	manifest, err := encodeJSON(r.bundleManifest(t))
	if err != nil {
		return err
	}
	binary, err := readEntry("server/"+t.programName(), program, 0o755)
	if err != nil {
		return err
	}
	entries := []entry{{"manifest.json", manifest, 0o644}, binary}
	return r.create(r.bundleName(t), func(w io.Writer) error { return writeZip(w, entries, r.time) })
}

func (r release) bundleManifest(t target) bundleManifest {
	entryPoint := "server/" + t.programName()
	return bundleManifest{
		ManifestVersion: "0.3", Name: "loregate", DisplayName: "Loregate", Version: r.version,
		Description: summary, LongDescription: description, Author: author{"Loregate"},
		Server: bundleServer{Type: "binary", EntryPoint: entryPoint, Config: command{
			Command: "${__dirname}/" + entryPoint,
			Args:    []string{"mcp", "--data", "${user_config.data}", "--role", "${user_config.role}"},
			Env:     map[string]string{"LOREGATE_WORLD": "${user_config.world}"},
		}},
		ToolsGenerated: true,
		Keywords:       []string{"worldbuilding", "wiki", "tabletop", "lore", "campaign"},
		License:        "Apache-2.0",
		Compatibility:  bundleCompatibility{Platforms: []string{bundlePlatforms[t.os]}},
		UserConfig: map[string]bundleQuestion{
			"data": {Type: "directory", Title: "Folder of the worlds", Required: true, Default: "${HOME}/Loregate",
				Description: "Loregate keeps all worlds in this folder. It is created if it does not exist."},
			"role": {Type: "string", Title: "Role", Required: true, Default: "gm",
				Description: "Who the assistant is: user (a player), gm (a game master) or admin. It never sees more than this role."},
			"world": {Type: "string", Title: "World", Default: "",
				Description: "Short name of the world. Leave it empty if there is only one."},
		},
	}
}

// encodeJSON returns a value as indented JSON with a final line end.
func encodeJSON(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}
