package archive

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

func fetchWrites(d *deps) []*op.Operation {
	return []*op.Operation{defineWrite(d, op.Spec{
		Name:  "upload_from_url",
		Asked: []string{"take a picture from the web", "store an image by its web address"},
		Title: "Attach a file from an address",
		Doc: "Fetch a file of at most 25 MiB over HTTPS and store it as upload_attachment does. " +
			"Files are fetched only from hosts that the operator allows; by default from none.",
		Route: "POST /api/mcp/cards/{name}/upload-from-url", Target: "name", Idempotent: true, Timeout: time.Minute,
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

// fetcher downloads files for callers. It requests only HTTPS addresses at allowed hosts with a
// public IP address and does not follow redirects, so a call cannot reach the machine itself or its
// neighbours.
type fetcher struct {
	hosts   []string
	client  *http.Client
	mayDial func(netip.Addr) bool // reports whether an IP address may be dialled
}

func newFetcher(hosts []string) *fetcher {
	f := &fetcher{hosts: hosts, mayDial: isPublic}
	// The IP address is checked when it is dialled, because a name can resolve to another address
	// later.
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !f.mayDial(at.Addr().Unmap()) {
			return errNotPublic
		}
		return nil
	}}
	f.client = &http.Client{Timeout: 50 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			ResponseHeaderTimeout: 20 * time.Second,
			DisableKeepAlives:     true, MaxResponseHeaderBytes: 64 << 10}}
	return f
}

var errNotPublic = errors.New("the address is not public")

// notPublic are the non-public ranges that netip does not know: shared, documentation,
// benchmarking, reserved, and those that embed an IPv4 address.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
}

func isPublic(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(notPublic,
		func(p netip.Prefix) bool { return p.Contains(a) })
}

// get fetches a file and returns its content and the last part of the address's path as its name.
func (f *fetcher) get(ctx context.Context, address string) (data []byte, name string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil:
		return nil, "", fault.BadField("url",
			"must be an address such as https://files.example/sign.png, without a name or password in it")
	case !slices.ContainsFunc(f.hosts, func(h string) bool { return strings.EqualFold(h, u.Hostname()) }) ||
		u.Port() != "" && u.Port() != "443":
		return nil, "", fault.New(fault.Denied,
			"files are not fetched from %q; the operator allows hosts by the setting fetch.hosts. Send the file itself with upload_attachment", markup.Clip(u.Host, 255))
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", fault.BadField("url", "cannot be requested")
	}
	res, err := f.client.Do(r)
	if err != nil {
		return nil, "", notFetched("the host did not answer, or its address is not public").Because(err)
	}
	defer func() { _ = res.Body.Close() }() // the body was only read
	if res.StatusCode != http.StatusOK {
		return nil, "", notFetched("the host answered %d; redirects are not followed, so give the final address",
			res.StatusCode)
	}
	data, err = io.ReadAll(io.LimitReader(res.Body, canon.MaxFile+1))
	switch {
	case err != nil:
		return nil, "", notFetched("the file was not received completely").Because(err)
	case len(data) > canon.MaxFile:
		return nil, "", fault.New(fault.TooLarge, "the file is larger than the limit of %d bytes",
			canon.MaxFile).With("limit_bytes", canon.MaxFile)
	}
	if name = path.Base(u.Path); name == "/" || name == "." || len(name) > 200 {
		name = ""
	}
	return data, name, nil
}

// notFetched is the fault for an address that could not be fetched; the caller can correct it.
func notFetched(format string, args ...any) *fault.Error {
	return fault.BrokenRule("url", format, args...)
}
