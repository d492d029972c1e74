package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// registryEntry is the server.json of the MCP registry, schema of 2025-12-11.
type registryEntry struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"` // at most 100 characters
	Version     string            `json:"version"`
	Packages    []registryPackage `json:"packages"`
}

type registryPackage struct {
	Type       string            `json:"registryType"`
	Identifier string            `json:"identifier"` // address of the file
	Version    string            `json:"version"`
	Hash       string            `json:"fileSha256"`
	Transport  map[string]string `json:"transport"`
}

// writeRegistryEntry writes server.json, which names the bundle of each target with its hash.
func (r release) writeRegistryEntry() error {
	entry := registryEntry{
		Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:   r.namespace + "/loregate", Title: "Loregate", Description: summary, Version: r.version,
	}
	for _, t := range r.targets {
		hash, err := hashFile(r.path(r.bundleName(t)))
		if err != nil {
			return err
		}
		entry.Packages = append(entry.Packages, registryPackage{Type: "mcpb", Identifier: r.url + r.bundleName(t),
			Version: r.version, Hash: hash, Transport: map[string]string{"type": "stdio"}})
	}
	data, err := encodeJSON(entry)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path("server.json"), data, 0o644)
}

// writeChecksums writes SHA256SUMS, which sha256sum -c reads.
func (r release) writeChecksums() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	return r.create("SHA256SUMS", func(w io.Writer) error {
		for _, f := range files {
			if f.Name() == "SHA256SUMS" {
				continue
			}
			hash, err := hashFile(r.path(f.Name()))
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s  %s\n", hash, f.Name())
		}
		return nil
	})
}

// hashFile returns the SHA-256 of a file in hexadecimal.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
