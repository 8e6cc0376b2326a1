//! What is new while the picker is open?

use std::sync::mpsc::Sender;

use sessionary::Config;

use super::message::Message;
use super::start_thread;
use crate::news::keep_current;

/// Tells what is new until nobody listens any more.
pub fn start(config: &Config, tell: &Sender<Message>) {
    let (config, tell) = (config.clone(), tell.clone());
    start_thread("picker-news", move || {
        keep_current(&config, &|news| tell.send(Message::News(news)).is_ok());
    });
}
