// Package boundstest attacks the program as it is shipped, within the limits of deploy/loregate.service: a memory
// cgroup of MemoryMax, with the service's settings. A test reads the peak of the process's memory before and after.
package boundstest
