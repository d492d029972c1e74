package sandbox

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are the system calls that a confined program may not make: those that open a socket, reach into another
// process, and change mounts or namespaces, by which programs have left sandboxes before.
var refusedCalls = []uint32{
	unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_OPEN_TREE,
	unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
}

// auditArch is the kernel's number of each architecture for which calls are filtered.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Offsets in the kernel's struct seccomp_data.
const (
	offsetCall = 0
	offsetArch = 4
)

// x32Bit marks calls of amd64's interface for 32-bit pointers, which have other numbers.
const x32Bit = 0x40000000

// filterCalls makes the kernel refuse refusedCalls, and every call of another architecture, to this thread and its
// program.
func filterCalls() error {
	arch, ok := auditArch[runtime.GOARCH]
	if !ok {
		return errors.ErrUnsupported
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	// jump skips one statement, the refusal, if the comparison does not hold.
	jump := func(comparison uint16, k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | comparison, K: k, Jf: 1}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	refuse := answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))

	program := []unix.SockFilter{load(offsetArch),
		{Code: unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ, K: arch, Jt: 1}, refuse,
		load(offsetCall), jump(unix.BPF_JGE, x32Bit), refuse}
	for _, call := range refusedCalls {
		program = append(program, jump(unix.BPF_JEQ, call), refuse)
	}
	program = append(program, answer(unix.SECCOMP_RET_ALLOW))
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&p)), 0, 0)
}
