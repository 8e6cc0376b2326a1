//! Field types that take any JSON value and keep only the kind they are for, so that a field of
//! an unexpected type never fails the parse of its record.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Text of a string, borrowed where it has no escapes; `None` for any other value or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text.
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text, owned.
    pub fn owned(&self) -> Option<String> {
        self.0.as_deref().map(str::to_owned)
    }
}

/// The elements of an array of texts; empty for any other value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts<'a>(pub Vec<Text<'a>>);

/// A number; `None` for any other value or none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Num(pub Option<f64>);

/// A number cut to whole; `None` for any other value or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Int(pub Option<i64>);

/// A number of things, cut to whole; `None` for any other value, one below 0 or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count(pub Option<i64>);

/// `true` or `false`; `None` for any other value or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flag(pub Option<bool>);

/// The JSON text of a value; `None` only where the key is missing (`null` is a value).
#[derive(Debug, Clone, Copy, Default)]
pub struct Raw<'a>(pub Option<&'a str>);

impl<'a> Raw<'a> {
    /// Whether the value is there and not null.
    pub fn is_value(&self) -> bool {
        self.0.is_some_and(|raw| raw != "null")
    }

    /// The decoded text where the value is a string.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        self.0
            .filter(|raw| raw.starts_with('"'))
            .map(|raw| super::decode(raw.as_bytes()))
    }

    /// The decoded text of a string, the JSON text of anything else but null.
    pub fn shown(&self) -> Option<String> {
        match self.text() {
            Some(text) => Some(text.into_owned()),
            None => self.0.filter(|raw| *raw != "null").map(str::to_owned),
        }
    }

    /// Parse the value as `T`; `None` where it is missing. With a loose `T` the only other `None`
    /// is for JSON that serde refuses, which a caller hands on to have the second tier read it.
    pub fn parse<T: Deserialize<'a>>(&self) -> Option<T> {
        super::parse(self.0?)
    }

    /// The elements where the value is an array, else none. `None` as in [`Raw::parse`].
    pub fn items(&self) -> Option<Vec<Raw<'a>>> {
        match self.0 {
            Some(raw) if raw.starts_with('[') => super::parse(raw),
            _ => Some(Vec::new()),
        }
    }

    /// The value as an object of shape `T`, if it is one. `None` only for JSON that serde refuses.
    pub(crate) fn object<T: Deserialize<'a>>(&self) -> Option<Option<T>> {
        let Some(raw) = self.0 else {
            return Some(None);
        };
        Some(match super::parse(raw)? {
            Loose::Object(object) => Some(object),
            _ => None,
        })
    }

    /// The objects where the value is an array, else none. `None` as in [`Raw::object`].
    pub(crate) fn objects<T: Deserialize<'a>>(&self) -> Option<Vec<T>> {
        let mut objects = Vec::new();
        for item in self.items()? {
            objects.extend(item.object::<T>()?);
        }
        Some(objects)
    }
}

/// An object of shape `T`, or what stands in its place.
#[derive(Debug, Clone, Default)]
pub enum Loose<T> {
    /// The key is missing.
    #[default]
    Missing,
    /// `null`.
    Null,
    /// An object.
    Object(T),
    /// Any other value.
    Other,
}

impl<T> Loose<T> {
    /// The object, if it is one.
    pub fn object(&self) -> Option<&T> {
        match self {
            Loose::Object(object) => Some(object),
            _ => None,
        }
    }
}

/// A text, an object of shape `O`, a list of `I`, or what stands in its place.
#[derive(Debug, Clone, Default)]
pub enum Mixed<'a, O, I> {
    /// Any other value, or none.
    #[default]
    Other,
    /// Borrowed where it has no escapes.
    Text(Cow<'a, str>),
    /// An object.
    Object(O),
    /// An array.
    List(Vec<I>),
}

impl<O, I> Mixed<'_, O, I> {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Mixed::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn object(&self) -> Option<&O> {
        match self {
            Mixed::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The elements; none of any other value.
    pub fn list(&self) -> &[I] {
        match self {
            Mixed::List(list) => list,
            _ => &[],
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'a RawValue>::deserialize(deserializer).map(|raw| Raw(Some(raw.get())))
    }
}

/// Consume an array or object without building anything.
macro_rules! skip_nested {
    () => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Default::default())
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Default::default())
        }
    };
}

/// Scalars that are not the wanted kind yield the default, or, but for `null`, what is named first.
macro_rules! skip_scalars {
    ($($visit:ident: $type:ty),*) => {
        skip_scalars!(Default::default(); $($visit: $type),*);
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Default::default())
        }
    };
    ($yield:expr; $($visit:ident: $type:ty),*) => {
        $(fn $visit<E: Error>(self, _: $type) -> Result<Self::Value, E> {
            Ok($yield)
        })*
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON value")
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Any<'a> {
            type Value = Text<'a>;
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }
            skip_scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
            skip_nested!();
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Any<'a> {
            type Value = Texts<'a>;
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Texts<'a>, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = seq.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Texts<'a>, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Texts::default())
            }
            skip_scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Num;
            fn visit_i64<E: Error>(self, number: i64) -> Result<Num, E> {
                Ok(Num(Some(number as f64)))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Num, E> {
                Ok(Num(Some(number as f64)))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Num, E> {
                Ok(Num(Some(number)))
            }
            skip_scalars!(visit_bool: bool, visit_str: &str);
            skip_nested!();
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Int;
            fn visit_i64<E: Error>(self, number: i64) -> Result<Int, E> {
                Ok(Int(Some(number)))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Int, E> {
                Ok(Int(Some(i64::try_from(number).unwrap_or(i64::MAX))))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Int, E> {
                Ok(Int(Some(number as i64)))
            }
            skip_scalars!(visit_bool: bool, visit_str: &str);
            skip_nested!();
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Int(number) = Int::deserialize(deserializer)?;
        Ok(Count(number.filter(|number| *number >= 0)))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Flag;
            fn visit_bool<E: Error>(self, flag: bool) -> Result<Flag, E> {
                Ok(Flag(Some(flag)))
            }
            skip_scalars!(visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
            skip_nested!();
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Loose<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Any<T> {
            type Value = Loose<T>;
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loose<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Loose::Object)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Loose<T>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Loose::Other)
            }
            fn visit_unit<E: Error>(self) -> Result<Loose<T>, E> {
                Ok(Loose::Null)
            }
            skip_scalars!(Loose::Other; visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de: 'a, 'a, O, I> Deserialize<'de> for Mixed<'a, O, I>
where
    O: Deserialize<'de>,
    I: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<'a, O, I>(PhantomData<(&'a (), O, I)>);
        impl<'de: 'a, 'a, O, I> Visitor<'de> for Any<'a, O, I>
        where
            O: Deserialize<'de>,
            I: Deserialize<'de>,
        {
            type Value = Mixed<'a, O, I>;
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Mixed::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Mixed::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                O::deserialize(MapAccessDeserializer::new(map)).map(Mixed::Object)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element()? {
                    list.push(element);
                }
                Ok(Mixed::List(list))
            }
            skip_scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}
