// Package pgtest provides tests with a PostgreSQL server that is created for one test binary and
// deleted with it.
//
// Its invariant: nothing outside a temporary folder is touched, the server listens only on a socket
// in that folder, and it ends with the test binary, however that ends. If PostgreSQL is not
// installed, tests are skipped with a message, or fail if REQUIRE_ENGINES is set to 1.
package pgtest
