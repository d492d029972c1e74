package archive

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/outbound"
)

func fetchWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name:  "upload_from_url",
		Asked: []string{"take a picture from the web", "store an image by its web address"},
		Title: "Attach a file from an address",
		Doc: "Fetch a file of at most 25 MiB over HTTPS and store it as upload_attachment does. " +
			"Files are fetched only from hosts that the operator allows; by default from none.",
		Route: "POST /api/mcp/cards/{name}/upload-from-url", Target: "name", Idempotent: true, Timeout: time.Minute, Waits: true,
		Unlisted: len(d.fetcher.hosts) == 0,
		Examples: []op.Example{{Title: "A picture",
			Input: `{"name": "Rent Quay+sign", "url": "https://files.example/sign.png"}`}},
	}, d.uploadFromURL)}
}

type fetchIn struct {
	namedCard
	URL   string `json:"url" minlen:"9" maxlen:"2000" jsonschema:"Address of the file, https://."`
	Type  string `json:"type,omitzero" enum:"File,Image" jsonschema:"Type of the card; default Image for pictures, otherwise File."`
	Level string `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Who may see a new card; default user."`
}

func (d *deps) uploadFromURL(ctx context.Context, _ *deps, c *op.Call, in fetchIn) (uploadOut, error) {
	// A caller who may not use the name is refused before anything is fetched.
	if err := d.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error { return checkNameRules(l, in.Name) }); err != nil {
		return uploadOut{}, err
	}
	data, name, err := d.fetcher.get(ctx, in.URL)
	if err != nil {
		return uploadOut{}, err
	}
	return uploadAttachment(ctx, d, c, uploadIn{namedCard: in.namedCard, Data: data, FileName: name, Type: in.Type,
		Level: in.Level})
}

// fetcher downloads files for callers, from allowed hosts.
type fetcher struct {
	hosts  []string
	client *outbound.Client
}

// get fetches a file and returns its content and the last part of the address's path as its name.
func (f *fetcher) get(ctx context.Context, address string) (data []byte, name string, err error) {
	u, err := outbound.ParseAddress(address)
	switch {
	case err != nil:
		return nil, "", fault.BadField("url",
			"must be an address such as https://files.example/sign.png, without a name, password or port in it")
	case !slices.ContainsFunc(f.hosts, func(h string) bool { return strings.EqualFold(h, u.Hostname()) }):
		return nil, "", fault.New(
			fault.Denied,
			"files are not fetched from %q; the operator allows hosts by the setting fetch.hosts. Send the file itself with upload_attachment",
			markup.Clip(u.Host, 255),
		)
	}
	a, err := f.client.Get(ctx, u, canon.MaxFile)
	var status outbound.StatusError
	switch {
	case errors.As(err, &status):
		return nil, "", notFetched("the host answered %d; redirects are not followed, so give the final address", int(status))
	case errors.Is(err, outbound.ErrTooLarge):
		return nil, "", fault.New(fault.TooLarge, "the file is larger than the limit of %d bytes",
			canon.MaxFile).With("limit_bytes", canon.MaxFile)
	case err != nil:
		return nil, "", notFetched("the host did not send the whole file, or its address is not public").Because(err)
	}
	if name = path.Base(u.Path); name == "/" || name == "." || len(name) > 200 {
		name = ""
	}
	return a.Body, name, nil
}

// notFetched is the fault for an address that could not be fetched; the caller can correct it.
func notFetched(format string, args ...any) *fault.Error {
	return fault.BrokenRule("url", format, args...)
}
