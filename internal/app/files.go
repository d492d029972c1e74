package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/blob"
	"loregate/internal/blob/s3"
	"loregate/internal/fault"
)

// Files holds the place of the files that the studio makes.
type Files struct {
	URL      string `yaml:"url" doc:"Bucket for the files that the studio makes, s3://bucket or s3://bucket/prefix, at any store that speaks the protocol of Amazon S3. The credentials are read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials. Empty: the files are in the data folder, in studio/blobs. See loregate files copy."`
	Endpoint string `yaml:"endpoint" doc:"Address of that store, such as https://minio.example:9000. Default: Amazon's."`
	Region   string `yaml:"region" doc:"Region of the bucket. Default: the one that the store names."`
	Cache    int    `yaml:"cache" default:"4096" doc:"Size of the cache of that bucket in MiB, in studio/cache of the data folder; at least 64. Files that were used within the hour are kept beyond it."`
}

func (f Files) validate() error {
	if f.Cache < 64 {
		return errors.New("files.cache: set at least 64")
	}
	if f.URL == "" && f.Endpoint != "" {
		return errors.New("files.endpoint: set files.url too")
	}
	return nil
}

// openFiles opens the folder of files in a data folder, or the bucket in its place. reached is the
// error of a bucket that does not answer now.
func openFiles(ctx context.Context, data string, f Files) (s *blob.Store, reached, err error) {
	if f.URL == "" {
		s, err = blob.Open(filepath.Join(data, "studio", "blobs"))
		return s, nil, err
	}
	b, err := s3.New(s3.Config{URL: f.URL, Endpoint: f.Endpoint, Region: f.Region})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if reached = b.Check(ctx); fault.KindOf(reached) == fault.Invalid {
		return nil, nil, reached
	}
	s, err = blob.OpenCache(filepath.Join(data, "studio", "cache"), b, int64(f.Cache)<<20)
	return s, reached, err
}

// CopyFiles copies the files of the studio that to lacks. Each of from and to is a data folder or
// s3://bucket/prefix; c has the endpoint of buckets. Each file is verified by its hash.
func CopyFiles(ctx context.Context, c Config, from, to string) (all, copied int, err error) {
	if from == to {
		return 0, 0, fault.New(fault.Invalid, "--from and --to name the same place; name another one with --to")
	}
	if !strings.Contains(from, "://") && !fileExists(from) {
		return 0, 0, fault.New(fault.Invalid, "--from: there is no folder %s; name the data folder that has the files", from)
	}
	src, err := openPlace(ctx, c, from)
	if err != nil {
		return 0, 0, fmt.Errorf("--from: %w", err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := openPlace(ctx, c, to)
	if err != nil {
		return 0, 0, fmt.Errorf("--to: %w", err)
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	return blob.CopyAll(ctx, src, dst)
}

func openPlace(ctx context.Context, c Config, place string) (*blob.Store, error) {
	data, f := c.Data, c.Files
	if f.URL = place; !strings.Contains(place, "://") {
		data, f = place, Files{}
	}
	s, reached, err := openFiles(ctx, data, f)
	if err == nil && reached != nil {
		err = errors.Join(reached, s.Close())
	}
	return s, err
}
