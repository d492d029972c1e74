// Package optest helps the tests of surfaces: ids, a single world, and answers with assertions.
package optest
