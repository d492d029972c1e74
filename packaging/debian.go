package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// writeDebian writes a .deb with the program, its service and its settings. The service is not
// enabled: an administrator decides that.
func (r release) writeDebian(t target, program string) error {
	service, err := r.debianService()
	if err != nil {
		return err
	}
	defer os.Remove(service)
	info := nfpm.WithDefaults(&nfpm.Info{
		Name:        "loregate",
		Version:     r.version,
		Arch:        t.arch,
		Platform:    "linux",
		Section:     "net",
		Priority:    "optional",
		Maintainer:  "Loregate <loregate@" + domainOf(r.namespace) + ">",
		Description: summary + "\n" + description,
		License:     "Apache-2.0",
		MTime:       r.time,
		Overridables: nfpm.Overridables{
			Scripts: nfpm.Scripts{PostInstall: filepath.Join(r.source, "packaging", "files", "postinstall.sh")},
			Depends: []string{"adduser"},
			Contents: files.Contents{
				r.debianFile(program, "/usr/bin/loregate", 0o755),
				r.debianFile(service, "/usr/lib/systemd/system/loregate.service", 0o644),
				r.debianFile(filepath.Join(r.source, "LICENSE"), "/usr/share/doc/loregate/copyright", 0o644),
				r.debianFile(filepath.Join(r.source, "README.md"), "/usr/share/doc/loregate/README.md", 0o644),
			},
		},
	})
	if err := nfpm.Validate(info); err != nil {
		return err
	}
	name := fmt.Sprintf("loregate_%s_%s.deb", r.version, t.arch)
	return r.create(name, func(w io.Writer) error { return deb.Default.Package(info, w) })
}

func (r release) debianFile(from, to string, mode os.FileMode) *files.Content {
	return &files.Content{Source: from, Destination: to,
		FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.time, Owner: "root", Group: "root"}}
}

// debianService writes the service file with the path that Debian gives to programs. The caller
// removes the file.
func (r release) debianService() (string, error) {
	data, err := os.ReadFile(filepath.Join(r.source, "deploy", "loregate.service"))
	if err != nil {
		return "", err
	}
	const local, packaged = "/usr/local/bin/loregate", "/usr/bin/loregate"
	if !bytes.Contains(data, []byte(local)) {
		return "", fmt.Errorf("deploy/loregate.service does not name %s", local)
	}
	f, err := os.CreateTemp("", "loregate-*.service")
	if err != nil {
		return "", err
	}
	_, err = f.Write(bytes.ReplaceAll(data, []byte(local), []byte(packaged)))
	return f.Name(), errors.Join(err, f.Close())
}
