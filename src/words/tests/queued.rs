//! How does a passage look to tantivy's own writer, with which ours is compared?

use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf, Value};
use tantivy::schema::{Document, Field};

use crate::words::schema::{Doc, ERROR_MARK, Fields, NAME_MARK, NO_TIME};

/// A [`Doc`] on its way into tantivy itself.
#[derive(Debug)]
pub(super) struct Queued {
    doc: Doc,
    fields: Fields,
}

impl Queued {
    pub fn new(doc: Doc, fields: Fields) -> Self {
        Self { doc, fields }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Leaf<'a> {
    Text(&'a str),
    Natural(u64),
    Integer(i64),
}

impl<'a> Value<'a> for Leaf<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Natural(number) => ReferenceValueLeaf::U64(number),
            Self::Integer(number) => ReferenceValueLeaf::I64(number),
        })
    }
}

impl Document for Queued {
    type Value<'a> = Leaf<'a>;
    type FieldsValuesIter<'a> = std::vec::IntoIter<(Field, Leaf<'a>)>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        let (doc, fields) = (&self.doc, &self.fields);
        let time = Field::from_field_id(fields.class.field_id() + 1);
        let mut values = Vec::with_capacity(7 + doc.tools.len() + doc.pieces.len());
        values.push((fields.key, Leaf::Natural(doc.key)));
        values.push((fields.class, Leaf::Natural(doc.class as u64)));
        values.push((time, Leaf::Integer(doc.time_ms.unwrap_or(NO_TIME))));
        values.push((fields.kind, Leaf::Text(&doc.kind)));
        values.extend(doc.role.iter().map(|role| (fields.role, Leaf::Text(role))));
        values.extend(doc.tools.iter().map(|tool| (fields.tool, Leaf::Text(tool))));
        if doc.is_error {
            values.push((fields.mark, Leaf::Text(ERROR_MARK)));
        }
        if doc.is_name {
            values.push((fields.mark, Leaf::Text(NAME_MARK)));
        }
        let text = fields.text(doc.class);
        values.extend(doc.pieces.iter().map(|piece| (text, Leaf::Text(piece))));
        values.into_iter()
    }
}
