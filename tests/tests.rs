#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod oracle;
