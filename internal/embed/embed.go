// Package embed turns texts into vectors with the embedding model of an endpoint that
// speaks OpenAI's wire format: the company's own, or Ollama, vLLM, llama.cpp and others.
//
// Its invariant: what it is given goes to the configured endpoint and nowhere else, and
// nothing of it, nor of the key, stands in an error. What the vectors are for is its
// caller's matter.
package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"loregate/internal/fault"
)

// Config is what a Client is made of. URL and Model are needed.
type Config struct {
	// URL is the endpoint's base, such as https://api.openai.com/v1.
	URL string
	// Model is the embedding model's name there.
	Model string
	// Key is sent as a bearer token; "" for none.
	Key string
	// HTTP does the calls; nil is a client that waits 30 s and follows no redirects, as what
	// it is sent holds facts of every level.
	HTTP *http.Client
}

// Client embeds texts. It is safe for concurrent use.
type Client struct {
	endpoint string
	cfg      Config
}

// New makes a Client. Nothing is asked yet.
func New(c Config) (*Client, error) {
	base, err := url.Parse(c.URL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("embed: %q is no http or https address", c.URL)
	}
	if c.Model == "" {
		return nil, errors.New("embed: the name of a model is needed")
	}
	if c.HTTP == nil {
		c.HTTP = &http.Client{Timeout: 30 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Client{strings.TrimSuffix(base.String(), "/") + "/embeddings", c}, nil
}

// Bounds of a call.
const (
	maxBatch  = 64       // texts
	maxAnswer = 64 << 20 // bytes
)

// Embed gives a vector for each text, in order, all of one length. Its error is
// fault.Unavailable where the endpoint does not answer as it should.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(maxBatch, len(texts))
		got, err := c.batch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
		texts = texts[n:]
	}
	for _, v := range out {
		if len(v) != len(out[0]) {
			return nil, unavailable("the embedding endpoint gave vectors of several lengths", nil)
		}
	}
	return out, nil
}

func (c *Client) batch(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": c.cfg.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return nil, unavailable("the embedding endpoint does not answer", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, unavailable(fmt.Sprintf("the embedding endpoint answers with status %d; look at its address, model and key", res.StatusCode), nil)
	}
	return decode(io.LimitReader(res.Body, maxAnswer), len(texts))
}

// decode reads an answer, whose vectors may come in any order.
func decode(r io.Reader, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, unavailable("the embedding endpoint's answer cannot be read", err)
	}
	out := make([][]float32, n)
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= n || len(d.Embedding) == 0 || out[d.Index] != nil {
			return nil, unavailable("the embedding endpoint's answer is not about what was asked", nil)
		}
		out[d.Index] = d.Embedding
	}
	for _, v := range out {
		if v == nil {
			return nil, unavailable("the embedding endpoint left out a text", nil)
		}
	}
	return out, nil
}

func unavailable(message string, cause error) error {
	return fault.New(fault.Unavailable, "%s", message).Because(cause)
}
