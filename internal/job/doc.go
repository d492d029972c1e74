// Package job runs work that may take longer than the call that started it. It stores the state of
// each job, so that a restart finds it, and limits the number of jobs that run and wait at once.
//
// Its invariant: a job is in one state at a time, and a job that no process runs any more is never
// shown as running. A job works with the grant of the call that started it, so it sees and does no
// more than its caller. Grants do not outlive the process, so a job that a stop interrupted becomes
// failed; its problem says so, and the caller can start it again. The surface that starts a job
// defines its work.
//
// The store chooses the job that runs next, so that worlds take turns also over several processes;
// the jobs of the instance have a slot for themselves. A job is cancelled in the store. The process
// that runs it looks there every second and cancels its context, and the job counts as cancelled
// when its work has returned.
package job
