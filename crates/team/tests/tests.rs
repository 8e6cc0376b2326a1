//! What is proven of sharing, one file a question:
//!
//! - `union`: is what three machines share what one machine has that holds the same sessions?
//! - `sending`: is nothing sent twice, and nothing that was not named?
//! - `secrets`: does no block hold a secret, and are raw bytes the same bytes?
//! - `taking_back`: does what was taken back go, in the store and elsewhere?
//! - `hostile`: does nothing in a store write outside of the folder of its host?
//! - `killed`: is a push or pull that was killed at any moment made up for by the next one?
//! - `postgres`: does a database hold what a folder does, and show nothing to who may not read?
//! - `sql`: do the rows in a database say what one machine says that holds the same sessions?
//! - `auto`: does what is written on one machine become findable on another by itself?
//! - `command`: what does the command say?

#[cfg(unix)]
mod auto;
mod command;
mod hostile;
mod killed;
mod machine;
#[cfg(unix)]
mod postgres;
mod secrets;
mod sending;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod sql;
mod taking_back;
mod union;
