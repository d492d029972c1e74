package model

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"loregate/internal/fault"
)

// newHTTP returns a client that follows no redirects, so that the key and the prompt reach only the
// configured endpoint.
func newHTTP() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// sendOnce makes one attempt. pause is the time that the endpoint asks to wait, or 0 if it asks for
// none.
func (c *Client) sendOnce(ctx context.Context, body []byte) (answer reply, pause time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return answer, 0, fault.New(fault.Internal, "model: the request cannot be created")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	for name, value := range c.wire.headers(c.cfg.Key) {
		req.Header.Set(name, value)
	}
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return answer, 0, c.unreachableError(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return answer, retryAfter(res.Header, c.cfg.Now()), c.statusError(res)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return answer, 0, timeoutError(ctx)
	case err != nil:
		return answer, 0, errDropped
	case len(b) > maxAnswer:
		return reply{received: true}, 0, errTooLong
	}
	answer, err = c.wire.parseAnswer(b)
	return answer, 0, err
}

// unreachableError returns the error of a request without a response. The transport's own message
// may contain response data and is not passed on.
func (c *Client) unreachableError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return timeoutError(ctx)
	}
	var (
		name *net.DNSError
		cert *tls.CertificateVerificationError
		dial *net.OpError
	)
	switch {
	case errors.As(err, &name):
		return fault.New(fault.Unavailable, "%s is not found; check model.url", c.host).Because(errors.New("no such host"))
	case errors.As(err, &cert):
		return fault.New(fault.Unavailable, "the certificate of %s is not valid", c.host).Because(errors.New("certificate"))
	case errors.As(err, &dial) && dial.Op == "dial":
		return fault.New(fault.Unavailable, "%s does not respond; check that it is running, and check model.url",
			c.host).Because(errors.New("no connection"))
	}
	return errDropped
}

// timeoutError returns the error of a call that timed out or was canceled.
func timeoutError(ctx context.Context) error {
	return fault.New(fault.Unavailable,
		"the model did not answer in time; raise model.timeout if this happens often").Because(ctx.Err())
}

// providerErrors maps error codes of the providers that are more specific than a status.
var providerErrors = map[string]*fault.Error{
	"insufficient_quota":      fault.New(fault.Rule, "the account of the model's key has used up its quota"),
	"billing_error":           fault.New(fault.Rule, "the account of the model's key cannot pay"),
	"context_length_exceeded": fault.New(fault.Rule, "the prompt is too long for the model"),
	"content_filter":          errRefused,
}

// statusError returns the error of a response with a status other than 200. It contains no text of
// the response.
func (c *Client) statusError(res *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(res.Body, maxText)) // the status is enough without the body
	for _, code := range c.wire.errorCodes(b) {
		if e := providerErrors[code]; e != nil {
			return e
		}
	}
	status := res.StatusCode
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fault.New(fault.Rule, "%s refuses the key (status %d); check model.key_env or model.key_file",
			c.host, status)
	case status == http.StatusNotFound:
		return fault.New(fault.Rule,
			"%s has no such model or address (status 404); check model.name and model.url", c.host)
	case status >= 300 && status < 400:
		return fault.New(fault.Rule,
			"%s answers with a redirect, which is not followed; set model.url to the address of the model", c.host)
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return errBadRequest
	case isTemporary(res):
		return fault.New(fault.Unavailable, "%s cannot answer now (status %d)", c.host, status)
	}
	return fault.New(fault.Rule, "%s refuses the request (status %d); check that the model supports it", c.host, status)
}

// isTemporary reports whether a status may be different on a retry.
func isTemporary(res *http.Response) bool {
	if res.Header.Get("X-Should-Retry") == "false" {
		return false
	}
	return res.StatusCode >= 500 && res.StatusCode != http.StatusNotImplemented ||
		slices.Contains([]int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests}, res.StatusCode)
}

// retryAfter returns the time to wait: Retry-After-Ms, or Retry-After in seconds or as a date (RFC
// 9110, 10.2.3). It is 0 if the header is missing or invalid.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
