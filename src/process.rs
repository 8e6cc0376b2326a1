//! What do people call a process?

/// Its number, and its name where the system tells.
pub fn named(process: u32) -> String {
    match name(process) {
        Some(name) => format!("process {process} ({name})"),
        None => format!("process {process}"),
    }
}

#[cfg(target_os = "linux")]
fn name(process: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(name.trim().to_owned())
}

#[cfg(not(target_os = "linux"))]
fn name(_: u32) -> Option<String> {
    None
}
