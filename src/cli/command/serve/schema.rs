//! What does the JSON look like that goes to and fro? The types say it.

use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};
use sessionary::model::{Listing, SearchAnswer, Status, Transcript, Tree};

use super::{Done, PROTOCOL, Subscribed, Welcome, changes, params};
use crate::command::resume;
use crate::failure::Failure;
use crate::output::bounded::Paged;

/// The schema, as it is kept in the documents.
pub fn printed() -> Result<String, Failure> {
    let settings = SchemaSettings::draft2020_12();
    let mut asked = settings.clone().for_deserialize().into_generator();
    let mut answered = settings.for_serialize().into_generator();
    let (to, from) = (&mut asked, &mut answered);
    let methods = json!({
        "hello": method::<params::Hello, Welcome>(to, from),
        "list": method::<params::List, Paged<'_, Listing>>(to, from),
        "search": method::<params::Search, SearchAnswer>(to, from),
        "show": method::<params::Show, Paged<'_, Transcript>>(to, from),
        "tree": method::<params::Tree, Paged<'_, Tree>>(to, from),
        "resume": method::<params::Resume, resume::Answer<'_>>(to, from),
        "freshness": method::<params::Nothing, Status>(to, from),
        "subscribe": method::<params::Subscribe, Subscribed>(to, from),
        "unsubscribe": method::<params::Nothing, Done>(to, from),
    });
    let (cancel, change) = (
        to.subschema_for::<params::Cancel>(),
        from.subschema_for::<changes::ChangeNotice>(),
    );
    let mut types = Map::new();
    for mut generator in [asked, answered] {
        // No type of the one has the name of one of the other.
        types.extend(generator.take_definitions(true));
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("sessionary serve, protocol {PROTOCOL}"),
        "methods": methods,
        "notifications": {
            "to": { "cancel": cancel },
            changes::METHOD: change,
        },
        "$defs": types,
    });
    let mut printed = serde_json::to_string_pretty(&schema)?;
    printed.push('\n');
    Ok(printed)
}

fn method<P: JsonSchema, R: JsonSchema>(
    asked: &mut SchemaGenerator,
    answered: &mut SchemaGenerator,
) -> Value {
    json!({
        "params": asked.subschema_for::<P>(),
        "result": answered.subschema_for::<R>(),
    })
}
