//! Tables of TOML files, read strictly: where a file must have a table, an array is an error.

/// Makes types refuse arrays. Serde's derived code, which `remote = "Self"` makes a function, would also read an array, as the
/// fields in their order.
macro_rules! tables_only {
    ($($table:ident),+) => {$(
        impl<'de> serde::Deserialize<'de> for $table {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$table, D::Error> {
                struct Table;

                impl<'de> serde::de::Visitor<'de> for Table {
                    type Value = $table;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a table")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$table, A::Error> {
                        $table::deserialize(serde::de::value::MapAccessDeserializer::new(map))
                    }
                }

                deserializer.deserialize_map(Table)
            }
        }
    )+};
}
pub(crate) use tables_only;
