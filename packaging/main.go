package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// release holds the settings that all files of one release share.
type release struct {
	source    string    // root of the sources
	out       string    // folder of the files; it is emptied first
	version   string    // semantic version without a leading v
	time      time.Time // of every file in every archive
	namespace string    // reverse domain name of the publisher in the MCP registry
	url       string    // address below which the files will be published; ends with a slash
	targets   []target
}

var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := parseFlags(os.Args[1:])
	if err == nil {
		err = r.build(ctx)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func parseFlags(args []string) (release, error) {
	f := flag.NewFlagSet("packaging", flag.ContinueOnError)
	var r release
	var names string
	f.StringVar(&r.source, "source", "..", "root of the sources")
	f.StringVar(&r.out, "out", "../dist", "folder for the files; what is in it is removed")
	f.StringVar(&r.version, "version", "", "semantic version of the release, such as 1.2.0")
	f.StringVar(&r.namespace, "namespace", "org.example", "reverse domain name of the publisher")
	f.StringVar(&r.url, "url", "", "address below which the files are published; default https://example.org/loregate/VERSION/")
	f.StringVar(&names, "targets", "", "systems and processors, such as linux/amd64,darwin/arm64; default all")
	if err := f.Parse(args); err != nil {
		return r, err
	}
	if !semantic.MatchString(r.version) {
		return r, fmt.Errorf("-version %q is not a semantic version such as 1.2.0", r.version)
	}
	if r.url == "" {
		r.url = "https://example.org/loregate/" + r.version + "/"
	}
	if !strings.HasPrefix(r.url, "https://") || !strings.HasSuffix(r.url, "/") {
		return r, fmt.Errorf("-url %q must begin with https:// and end with a slash", r.url)
	}
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return r, errors.New("set SOURCE_DATE_EPOCH to the time of the release in seconds, as scripts/dist.sh does")
	}
	r.time = time.Unix(epoch, 0).UTC()
	r.targets, err = parseTargets(names)
	return r, err
}

// build writes all files of the release. It ends at the first error and leaves the rest unwritten;
// the checksums come last, so that a folder without them is not a release.
func (r release) build(ctx context.Context) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "packaging-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	for _, t := range r.targets {
		program := filepath.Join(work, t.os+"-"+t.arch, t.programName())
		if err := r.compile(ctx, t, program); err != nil {
			return err
		}
		if err := r.packTarget(t, program); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	for _, write := range []func() error{r.writeExtensions, r.writeRegistryEntry, r.writeChecksums} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// packTarget writes each kind of file that holds the program of one target.
func (r release) packTarget(t target, program string) error {
	steps := []func(target, string) error{r.writeArchive, r.writeBundle, r.writeBillOfMaterials}
	if t.os == "linux" {
		steps = append(steps, r.writeDebian, r.writeImage)
	}
	for _, step := range steps {
		if err := step(t, program); err != nil {
			return err
		}
	}
	return nil
}

// path returns the path of a file of the release.
func (r release) path(name string) string { return filepath.Join(r.out, name) }
