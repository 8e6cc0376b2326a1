//! Does the system tell of every change to files there? Not where other machines can make them.

use std::path::Path;

/// The name of the file system at `path` when changes on it may come from elsewhere: then no notification tells of them.
#[cfg(target_os = "linux")]
pub fn untold(path: &Path) -> Option<&'static str> {
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

/// The name of the file system at `path` when changes on it may come from elsewhere: then no notification tells of them.
#[cfg(not(target_os = "linux"))]
pub fn untold(path: &Path) -> Option<&'static str> {
    // A share of another machine.
    let text = path.to_string_lossy();
    (cfg!(windows) && text.starts_with(r"\\") && !text.starts_with(r"\\?\")).then_some("SMB")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_has_itself_is_told() {
        for local in ["/proc", "/dev/shm", "/no/such/folder"] {
            assert_eq!(untold(Path::new(local)), None, "{local}");
        }
    }
}
