// Command packaging builds the files of a release: archives for each system, Debian packages, a
// container image, bundles and extension folders for MCP clients, an entry for the MCP registry, a
// software bill of materials, and checksums.
//
// Its invariant: the same sources and the same version give the same bytes. Programs are compiled
// without paths and without version control data, archives hold their files in the order of their
// names, and all times are that of SOURCE_DATE_EPOCH.
//
// It is a module of its own, so that the libraries that write packages are no dependencies of the
// product.
package main
