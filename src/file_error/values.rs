//! Reads a file's values into types that derive `Deserialize`, from the tree that the TOML library parses. The library has a reader
//! too, but that accepts dates, numbers of 128 bits and owned texts for every key, and is compiled again for each type: it made the
//! shared library 530 kB larger. Here, the reader of a key accepts only the kind of value that the key can have.

use std::{marker::PhantomData, ops::Range};

use serde::{
    de::{
        DeserializeOwned, DeserializeSeed, Deserializer, Error as _, Expected, IntoDeserializer, MapAccess, SeqAccess,
        Unexpected, Visitor, value::StrDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_spanned::{
    Spanned,
    de::{SpannedDeserializer, is_spanned},
};
use toml::de::{DeString, DeTable, DeValue};

/// Reads a whole file.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let root =
        DeTable::parse(text).map_err(|error| Error { message: error.message().to_owned(), span: error.span() })?;
    let span = root.span();
    Value(&Spanned::new(span, DeValue::Table(root.into_inner()))).read(PhantomData)
}

/// An error in a file, with the range of the faulty bytes.
#[derive(Debug)]
pub struct Error {
    pub message: String,
    pub span: Option<Range<usize>>,
}

impl Error {
    fn wrong_type(value: &DeValue<'_>, expected: &dyn Expected) -> Error {
        let found = match value {
            DeValue::String(text) => Unexpected::Str(text),
            DeValue::Integer(_) | DeValue::Float(_) => match number(value) {
                Some(Number::Whole(number)) => Unexpected::Signed(number),
                Some(Number::Real(number)) => Unexpected::Float(number),
                None => Unexpected::Other("number"),
            },
            DeValue::Boolean(flag) => Unexpected::Bool(*flag),
            DeValue::Datetime(_) => Unexpected::Other("date"),
            DeValue::Array(_) => Unexpected::Seq,
            DeValue::Table(_) => Unexpected::Map,
        };
        Error::invalid_type(found, expected)
    }

    /// Sets the place of the error, unless an inner value has already set it.
    fn within(mut self, span: Range<usize>) -> Error {
        self.span.get_or_insert(span);
        self
    }
}

impl std::error::Error for Error {}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl serde::de::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Error {
        Error { message: message.to_string(), span: None }
    }
}

enum Number {
    Whole(i64),
    Real(f64),
}

/// Returns a number's value. `None` if it is too large or not finite, or if the value is not a number.
fn number(value: &DeValue<'_>) -> Option<Number> {
    match value {
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix()).ok().map(Number::Whole),
        DeValue::Float(digits) => {
            digits.as_str().parse().ok().filter(|number: &f64| number.is_finite()).map(Number::Real)
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Value<'a>(&'a Spanned<DeValue<'a>>);

impl<'a> Value<'a> {
    fn read<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self).map_err(|error| error.within(self.0.span()))
    }

    fn number<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.0.get_ref();
        match number(value) {
            Some(Number::Whole(number)) => visitor.visit_i64(number),
            Some(Number::Real(number)) => visitor.visit_f64(number),
            None if matches!(value, DeValue::Integer(_) | DeValue::Float(_)) => {
                Err(Error::custom("the number is too large, or not finite"))
            }
            None => Err(Error::wrong_type(value, &visitor)),
        }
    }
}

impl<'a> IntoDeserializer<'a, Error> for Value<'a> {
    type Deserializer = Value<'a>;

    fn into_deserializer(self) -> Value<'a> {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Error;

    /// Reads a value that may have one of several types.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.get_ref() {
            DeValue::Array(_) => self.deserialize_seq(visitor),
            DeValue::Table(_) => self.deserialize_map(visitor),
            DeValue::Boolean(_) => self.deserialize_bool(visitor),
            DeValue::Integer(_) | DeValue::Float(_) => self.number(visitor),
            DeValue::String(_) | DeValue::Datetime(_) => self.deserialize_str(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.get_ref() {
            DeValue::Boolean(flag) => visitor.visit_bool(*flag),
            value => Err(Error::wrong_type(value, &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    // This function is inlined, so that the compiler knows `name` and keeps only one of the two branches.
    #[inline(always)]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if is_spanned(name) {
            return visitor.visit_map(SpannedDeserializer::new(self, self.0.span()));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0.get_ref() {
            DeValue::String(text) => visitor.visit_enum(StrDeserializer::new(text)),
            _ => Err(Error::custom("write a string in quotes")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.get_ref() {
            DeValue::Table(table) => visitor.visit_map(Table { rest: table.iter(), value: None }),
            value => Err(Error::wrong_type(value, &visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.get_ref() {
            DeValue::Array(list) => visitor.visit_seq(List(list.iter())),
            value => Err(Error::wrong_type(value, &visitor)),
        }
    }

    // A tuple's reader reads only as many elements as it needs, and would ignore further ones.
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        match self.0.get_ref() {
            DeValue::Array(list) if list.len() > len => Err(Error::invalid_length(list.len(), &visitor)),
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.get_ref() {
            DeValue::String(text) => visitor.visit_borrowed_str(text),
            value => Err(Error::wrong_type(value, &visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.number(visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u128 f32 char bytes byte_buf unit unit_struct tuple_struct identifier ignored_any
    }
}

struct List<'de>(std::slice::Iter<'de, Spanned<DeValue<'de>>>);

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        self.0.next().map(|value| Value(value).read(seed)).transpose()
    }
}

struct Table<'de, I> {
    rest: I,
    value: Option<&'de Spanned<DeValue<'de>>>,
}

impl<'de, I> MapAccess<'de> for Table<'de, I>
where
    I: Iterator<Item = (&'de Spanned<DeString<'de>>, &'de Spanned<DeValue<'de>>)>,
{
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Key(key)).map(Some).map_err(|error| error.within(key.span()))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let value = self.value.take().ok_or_else(|| Error::custom("a value is read without its key"))?;
        Value(value).read(seed)
    }
}

struct Key<'a>(&'a Spanned<DeString<'a>>);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.0.get_ref())
    }

    // The only struct into which a key is read is `Spanned`.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(SpannedDeserializer::new(&**self.0.get_ref(), self.0.span()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}
