//! What an imported run does not know is `null` in its JSON document. Read back it
//! is what the record has in its place: no number, 0, an empty word.

use serde::{Deserialize, Deserializer};

/// JSON has no word for what is not a number; it is written as `null`.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

pub(crate) fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}
