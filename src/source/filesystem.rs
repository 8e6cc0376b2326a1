//! Does the system tell of every change to files there? Not where other machines can make them, nor
//! of a file system that is mounted over them.

#[cfg(target_os = "linux")]
use std::fs::File;
use std::path::Path;

/// The name of the file system at `path` when changes on it may come from elsewhere: then no
/// notification tells of them.
#[cfg(target_os = "linux")]
pub fn remote_file_system(path: &Path) -> Option<&'static str> {
    // Numbers of statfs(2), `linux/magic.h`, and of the file systems that are not in it.
    const REMOTE: [(u64, &str); 17] = [
        (0x6969, "NFS"),
        (0x517B, "SMB"),
        (0xFF53_4D42, "SMB"),
        (0xFE53_4D42, "SMB"),
        (0x0102_1997, "9p"),
        (0x6573_5546, "FUSE"),
        (0x5346_414F, "AFS"),
        (0x7375_7245, "Coda"),
        (0x00C3_6400, "Ceph"),
        (0x786F_4256, "vboxsf"),
        (0xBACB_ACBC, "vmhgfs"),
        (0x0BD0_0BD0, "Lustre"),
        (0x4750_4653, "GPFS"),
        (0x1983_0326, "BeeGFS"),
        (0x6B41_4653, "AFS"),
        (0x0116_1970, "GFS2"),
        (0x7461_636F, "OCFS2"),
    ];
    // Only the lower 32 bits are the number; on some machines the type is signed.
    let number = rustix::fs::statfs(path).ok()?.f_type as u64 & 0xFFFF_FFFF;
    REMOTE
        .into_iter()
        .find(|(remote, _)| *remote == number)
        .map(|(_, name)| name)
}

/// The name of the file system at `path` when changes on it may come from elsewhere: then no
/// notification tells of them.
#[cfg(not(target_os = "linux"))]
pub fn remote_file_system(path: &Path) -> Option<&'static str> {
    // A share of another machine.
    let text = path.to_string_lossy();
    (cfg!(windows) && text.starts_with(r"\\") && !text.starts_with(r"\\?\")).then_some("SMB")
}

/// What is mounted where.
#[derive(Debug, Default)]
pub struct Mounts {
    #[cfg(target_os = "linux")]
    table: Option<File>,
}

impl Mounts {
    /// As they are now.
    pub fn now() -> Mounts {
        Mounts {
            #[cfg(target_os = "linux")]
            table: File::open("/proc/self/mountinfo").ok(),
        }
    }

    /// Whether anything was mounted or unmounted since this was last asked. `false` where the
    /// system does not tell.
    pub fn changed(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(table) = &self.table {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let at_once = Timespec::default();
            // See "/proc/pid/mountinfo" in proc(5): a change makes it ready, and asking makes it as
            // before.
            let mut asked = [PollFd::new(table, PollFlags::PRI)];
            return poll(&mut asked, Some(&at_once)).is_ok_and(|ready| ready > 0);
        }
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn local_file_systems_are_not_remote() {
        for local in ["/proc", "/dev/shm", "/no/such/folder"] {
            assert_eq!(remote_file_system(Path::new(local)), None, "{local}");
        }
    }

    #[test]
    fn nothing_is_mounted_meanwhile() {
        let mounts = Mounts::now();
        assert!(mounts.table.is_some());
        // Others may mount something at this very moment.
        assert!((0..100).any(|_| !mounts.changed()));
    }
}
