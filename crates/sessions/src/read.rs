//! How do the bytes of a file come into memory? Into large pages where the system has them: small
//! ones cost more than all that is done with the bytes after.

use std::fs::File;
use std::io;

use bytes::Bytes;

use super::cores::on_every_core;

/// What a large page holds on most systems.
const LARGE: usize = 2 * 1024 * 1024;

/// The bytes of a file between two places, as many as there are.
pub(super) fn read(file: &File, from: u64, until: u64) -> io::Result<Bytes> {
    let length = until.min(file.metadata()?.len()).saturating_sub(from);
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    #[cfg(target_os = "linux")]
    if length >= LARGE / 2 {
        // Only of whole large pages in length is it laid out in them; what the file does not fill
        // stays zero.
        let memory = memmap2::MmapMut::map_anon(length.next_multiple_of(LARGE))?;
        // A wish: systems without them, or with none free, give small ones.
        let _ = memory.advise(memmap2::Advice::HugePage);
        return fill(memory, length, file, from);
    }
    let mut memory = Vec::new();
    let room = memory.try_reserve_exact(length);
    room.map_err(|_| io::ErrorKind::OutOfMemory)?;
    memory.resize(length, 0);
    fill(memory, length, file, from)
}

/// That many bytes from a place on, read into memory by every core.
fn fill<M>(mut memory: M, length: usize, file: &File, from: u64) -> io::Result<Bytes>
where
    M: AsMut<[u8]> + AsRef<[u8]> + Send + 'static,
{
    let parts = memory.as_mut()[..length].chunks_mut(LARGE);
    let starts = (from..).step_by(LARGE);
    let read = on_every_core(starts.zip(parts).collect(), |(at, part)| {
        read_at(file, part, at)
    });
    let mut whole = 0;
    for part in read {
        let part = part?;
        whole += part;
        if part < LARGE {
            // The last one, also where the file is shorter by now.
            break;
        }
    }
    Ok(Bytes::from_owner(memory).slice(..whole))
}

/// As many bytes from that place on as there are.
fn read_at(file: &File, bytes: &mut [u8], from: u64) -> io::Result<usize> {
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt;
    let mut done = 0;
    while done < bytes.len() {
        #[cfg(unix)]
        let read = file.read_at(&mut bytes[done..], from + done as u64);
        #[cfg(windows)]
        let read = file.seek_read(&mut bytes[done..], from + done as u64);
        match read {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
