//! What did one whole process cost? Wall time, CPU time, peak memory and bytes read, as the kernel
//! counted them.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// The cost of one process, from spawn to exit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Spawn to exit.
    pub wall: Duration,
    /// User and system time of all threads; zero where the system does not tell.
    pub cpu: Duration,
    /// Largest resident set in bytes; zero where the system does not tell.
    pub peak_rss: u64,
    /// Bytes returned by `read` and its kin (`rchar`), page cache included, mapped files not.
    pub read: Option<u64>,
    /// Did it exit by itself, and with which code?
    pub code: Option<i32>,
}

/// Runs `command` to its end.
pub fn run(command: &mut Command) -> io::Result<Cost> {
    let start = Instant::now();
    let child = command.spawn()?;
    finish(child, start)
}

#[cfg(target_os = "linux")]
fn finish(child: Child, start: Instant) -> io::Result<Cost> {
    let read = read_when_dead(&child)?;
    let wall = start.elapsed();
    let (status, usage) = linux::reap(child)?;
    Ok(Cost {
        wall,
        cpu: usage.cpu,
        peak_rss: usage.peak_rss,
        read,
        code: status.code(),
    })
}

#[cfg(not(target_os = "linux"))]
fn finish(mut child: Child, start: Instant) -> io::Result<Cost> {
    let status: ExitStatus = child.wait()?;
    Ok(Cost {
        wall: start.elapsed(),
        code: status.code(),
        ..Cost::default()
    })
}

/// Waits until `child` is dead but not reaped: then its last counters can still be read.
#[cfg(target_os = "linux")]
pub fn read_when_dead(child: &Child) -> io::Result<Option<u64>> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let pid = Pid::from_child(child);
    loop {
        match waitid(
            WaitId::Pid(pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        ) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let counters = std::fs::read_to_string(format!("/proc/{}/io", child.id())).unwrap_or_default();
    Ok(counters
        .lines()
        .find_map(|line| line.strip_prefix("rchar: ")?.parse().ok()))
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Child, Duration, ExitStatus, io};
    use std::ffi::{c_int, c_long};
    use std::os::unix::process::ExitStatusExt;

    /// `struct timeval` and `struct rusage` of Linux.
    #[repr(C)]
    #[derive(Default)]
    struct Time {
        seconds: c_long,
        micros: c_long,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Rusage {
        user: Time,
        system: Time,
        peak_rss_kib: c_long,
        rest: [c_long; 13],
    }
    unsafe extern "C" {
        // std already links the C library; it offers no way to one child's resource usage.
        fn wait4(pid: c_int, status: *mut c_int, options: c_int, usage: *mut Rusage) -> c_int;
    }

    pub struct Usage {
        pub cpu: Duration,
        pub peak_rss: u64,
    }

    /// Takes the child, so that nobody waits for a process id that is free again.
    pub fn reap(child: Child) -> io::Result<(ExitStatus, Usage)> {
        let pid = child.id() as c_int;
        let (mut status, mut usage) = (0, Rusage::default());
        loop {
            // SAFETY: both pointers are valid for the call and laid out as Linux documents them.
            if unsafe { wait4(pid, &mut status, 0, &mut usage) } == pid {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let time = |time: &Time| Duration::new(time.seconds as u64, time.micros as u32 * 1000);
        let cpu = time(&usage.user) + time(&usage.system);
        Ok((
            ExitStatus::from_raw(status),
            Usage {
                cpu,
                peak_rss: usage.peak_rss_kib as u64 * 1024,
            },
        ))
    }
}
