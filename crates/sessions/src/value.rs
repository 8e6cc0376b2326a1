//! How typed values are read from JSON and written to it: tolerantly, in a fixed order, keeping
//! what no type names.

use sessionary_formats::json;

/// Any JSON value, as its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Json(Box<str>);

impl Json {
    /// The text, where it is one JSON value that `JSON.parse` accepts. It is kept as it is written;
    /// what is appended to a session is written as `JSON.stringify` writes it.
    pub fn parse(text: &str) -> Option<Self> {
        let value = json::whole(text.as_bytes())?;
        Some(Self(text[value].into()))
    }

    /// A value that serde can write.
    pub fn of(value: &impl serde::Serialize) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value read by serde; `None` where it is of another shape.
    pub fn get<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        json::tiers(self.0.as_bytes(), |text| {
            let mut parser = serde_json::Deserializer::from_str(text);
            // Known depth is bounded by `T`; for values of any depth the stack grows.
            parser.disable_recursion_limit();
            T::deserialize(serde_stacker::Deserializer::new(&mut parser)).ok()
        })
    }

    /// Text that is known to be one JSON value.
    pub(super) fn trusted(text: &str) -> Self {
        Self(text.into())
    }
}

/// Members that a type does not name, or whose values are not of the named type: in order, as they
/// are written. A value of the wrong type stays only as long as nobody sets the field of its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members(pub Vec<(String, Json)>);

impl Members {
    /// The last member of that key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0
            .iter()
            .rfind(|(name, _)| name == key)
            .map(|(_, value)| value)
    }
}

/// A type of a member's value.
pub(super) trait Value: Sized {
    /// The value, where the text is of this type.
    fn read(text: &str) -> Option<Self>;
    /// Writes the value.
    fn write(&self, out: &mut String);
    /// Whether there is nothing to write: the member is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

impl Value for String {
    fn read(text: &str) -> Option<Self> {
        text.starts_with('"')
            .then(|| json::decode(text.as_bytes()).into_owned())
    }
    fn write(&self, out: &mut String) {
        quote(out, self);
    }
}

impl Value for bool {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Value for i64 {
    fn read(text: &str) -> Option<Self> {
        match text.parse() {
            Ok(whole) => Some(whole),
            Err(_) => f64::read(text)
                .filter(|value| value.fract() == 0.0 && value.abs() < 9e15)
                .map(|value| value as i64),
        }
    }
    fn write(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl Value for f64 {
    fn read(text: &str) -> Option<Self> {
        let number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        number.then(|| text.parse().ok())?
    }
    fn write(&self, out: &mut String) {
        if self.is_finite() {
            // Rust's own notation is JSON; `stringify` makes it JavaScript's.
            out.push_str(&format!("{self:?}"));
        } else {
            out.push_str("null");
        }
    }
}

impl Value for Json {
    fn read(text: &str) -> Option<Self> {
        Some(Self::trusted(text))
    }
    fn write(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}

impl<T: Value> Value for Option<T> {
    fn read(text: &str) -> Option<Self> {
        T::read(text).map(Some)
    }
    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(text: &str) -> Option<Self> {
        if !text.starts_with('[') {
            return None;
        }
        json::elements(text).into_iter().map(T::read).collect()
    }
    fn write(&self, out: &mut String) {
        out.push('[');
        for (at, value) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            value.write(out);
        }
        out.push(']');
    }
}

/// Writes a string as JSON.
pub(super) fn quote(out: &mut String, text: &str) {
    out.push_str(&quoted(text));
}

/// A string as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Adds a member to an object that is being written; `out` ends behind the brace or the member
/// before.
pub(super) fn put(out: &mut String, key: &str, value: &impl Value) {
    if value.is_absent() {
        return;
    }
    if !out.ends_with('{') {
        out.push(',');
    }
    quote(out, key);
    out.push(':');
    value.write(out);
}

/// An object with named members, in the order in which they are written, and the rest.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $name:ident $(tag $tag:literal = $tagged:literal)? $(skip $skip:ident)? {
            $($(#[$field_doc:meta])* $field:ident: $key:literal $type:ty,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// What is not named here, as it is written.
            pub other: $crate::value::Members,
        }

        impl $name {
            /// Adds the members to an object that is being written.
            #[allow(dead_code)]
            pub(crate) fn write_members(&self, out: &mut String) {
                $(
                    let is_set = self.$field != <$type>::default();
                    if is_set || self.other.get($key).is_none() {
                        $crate::value::put(out, $key, &self.$field);
                    }
                )*
                for (key, value) in &self.other.0 {
                    let is_set = match &**key {
                        $($key => self.$field != <$type>::default(),)*
                        _ => false,
                    };
                    if !is_set {
                        $crate::value::put(out, key, value);
                    }
                }
            }

            /// A member that is named here, whose value is neither null nor of the named type.
            #[allow(dead_code)]
            pub(crate) fn misfit(&self) -> Option<&'static str> {
                [$($key),*].into_iter().find(|key| {
                    let value = self.other.get(key);
                    value.is_some_and(|value| value.as_str() != "null")
                })
            }

            /// The object; `None` where the text is none.
            pub(crate) fn read_object(text: &str) -> Option<Self> {
                if !text.trim_start().starts_with('{') {
                    return None;
                }
                #[allow(unused_mut)]
                let mut read = Self::default();
                for member in sessionary_formats::json::members(text) {
                    let value = member.value;
                    let known = match &*member.key {
                        $($tag => true,)?
                        $(key if $skip.contains(&key) => true,)?
                        $($key => {
                            // Of a key that is written twice the last value counts.
                            read.other.0.retain(|(other, _)| other != $key);
                            let value = $crate::value::Value::read(value);
                            let known = value.is_some();
                            read.$field = value.unwrap_or_default();
                            known
                        })*
                        _ => false,
                    };
                    if !known {
                        let value = $crate::value::Json::trusted(value);
                        read.other.0.push((member.key.into_owned(), value));
                    }
                }
                Some(read)
            }
        }

        impl $crate::value::Value for $name {
            fn read(text: &str) -> Option<Self> {
                Self::read_object(text)
            }
            fn write(&self, out: &mut String) {
                out.push('{');
                $($crate::value::put(out, $tag, &$tagged.to_owned());)?
                self.write_members(out);
                out.push('}');
            }
        }
    };
}
pub(super) use object;
