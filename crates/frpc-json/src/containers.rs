//! The [`Codec`]s of options, lists and maps.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

use crate::error::quoted;
use crate::{Codec, DecodeError, EncodeError, Key, Reader, Writer};

/// Initial capacity in elements of a list that is being read.
const LIST_FIRST: usize = 4;

/// Codec of a field with presence. `null` is an absent field, unless it is a value of the field's type.
impl<C: Codec> Codec for Option<C> {
    type Target = Option<C::Target>;
    const IS_NULLABLE: bool = C::IS_NULLABLE;

    #[inline]
    fn is_default(value: &Option<C::Target>) -> bool {
        value.is_none()
    }

    #[inline]
    fn encode(value: &Option<C::Target>, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        match value {
            Some(value) => C::encode(value, to),
            None => {
                to.raw("null");
                Ok(())
            }
        }
    }

    #[inline]
    fn decode(value: &mut Option<C::Target>, from: &mut Reader<'_>) -> Result<bool, DecodeError> {
        let is_known = C::decode(value.insert(C::Target::default()), from)?;
        if !is_known {
            *value = None;
        }
        Ok(is_known)
    }
}

/// Codec of a repeated field.
impl<C: Codec> Codec for Vec<C> {
    type Target = Vec<C::Target>;
    const IS_NULLABLE: bool = false;

    #[inline]
    fn is_default(list: &Vec<C::Target>) -> bool {
        list.is_empty()
    }

    fn encode(list: &Vec<C::Target>, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.raw("[");
        for (index, element) in list.iter().enumerate() {
            if index > 0 {
                to.raw(",");
            }
            C::encode(element, to).map_err(|error| error.in_element(index))?;
        }
        to.raw("]");
        Ok(())
    }

    fn decode(list: &mut Vec<C::Target>, from: &mut Reader<'_>) -> Result<bool, DecodeError> {
        let mut index = 0_usize;
        from.array(|from| {
            if list.len() == list.capacity() {
                let more = list.capacity().max(LIST_FIRST);
                from.charge::<C::Target>(more)?;
                list.reserve_exact(more);
            }
            list.push(C::Target::default());
            let Some(last) = list.last_mut() else { return Ok(()) };
            if !C::decode(last, from).map_err(|error| error.in_element(index))? {
                list.pop();
            }
            index = index.wrapping_add(1);
            Ok(())
        })?;
        Ok(true)
    }
}

/// Implements [`Codec`] for a map type. The last two arguments are expressions that compute memory sizes in bytes from
/// `entry`, the size of one entry. The first is the memory of a map with a single entry, and the second is the maximum
/// memory that each further entry adds.
macro_rules! map {
    ([$($bounds:tt)*] $map:ident<$($hasher:ident)?>, |$entry:ident| $first:expr, $each:expr) => {
        /// Codec of a map field.
        impl<K: Key + $($bounds)*, C: Codec $(, $hasher: BuildHasher + Default)?> Codec for $map<K, C $(, $hasher)?> {
            type Target = $map<K, C::Target $(, $hasher)?>;
            const IS_NULLABLE: bool = false;

            #[inline]
            fn is_default(map: &Self::Target) -> bool {
                map.is_empty()
            }

            fn encode(map: &Self::Target, to: &mut Writer<'_>) -> Result<(), EncodeError> {
                encode_entries::<K, C>(map.iter(), to)
            }

            fn decode(map: &mut Self::Target, from: &mut Reader<'_>) -> Result<bool, DecodeError> {
                #[allow(clippy::arithmetic_side_effects)] // Evaluated at compile time, where overflow is an error.
                let (first, each) = const {
                    let $entry = size_of::<(K, C::Target)>();
                    ($first, $each)
                };
                decode_entries::<K, C>(first, each, from, |key, value| map.insert(key, value).is_none())
            }
        }
    };
}

// The smallest table of the standard library has four slots with a control byte each, and a group of 16 control bytes.
// A table that has just grown is slightly less than half full.
map!([Eq + Hash] HashMap<S>, |entry| 4 * (entry + 1) + 16, 2 * (entry + 1) + entry / 2);
// A node of the standard library has eleven slots. All nodes but a single root are at least half full.
map!([Ord] BTreeMap<>, |entry| 11 * entry + 16, 2 * entry + entry / 2 + 16);

fn encode_entries<'m, K: Key + 'm, C: Codec<Target: 'm>>(
    entries: impl Iterator<Item = (&'m K, &'m C::Target)>,
    to: &mut Writer<'_>,
) -> Result<(), EncodeError> {
    to.raw("{");
    for (key, value) in entries {
        to.comma();
        let start = to.position();
        key.write(to);
        let end = to.position();
        to.raw(":");
        C::encode(value, to).map_err(|error| error.in_entry(quoted(to.written(start, end).trim_matches('"'))))?;
    }
    to.raw("}");
    Ok(())
}

/// Reads the entries of a map, charging `first` bytes for the first entry and `each` bytes for every further one.
/// `insert` returns `false` for a duplicate key.
fn decode_entries<K: Key, C: Codec>(
    first: usize,
    each: usize,
    from: &mut Reader<'_>,
    mut insert: impl FnMut(K, C::Target) -> bool,
) -> Result<bool, DecodeError> {
    let mut memory = first;
    let mut start = from.position();
    from.object(|name, from| {
        let key = K::from_text(name).ok_or_else(|| Reader::invalid(K::EXPECTED, name, start))?;
        from.charge_bytes(memory)?;
        let mut value = C::Target::default();
        if C::decode(&mut value, from).map_err(|error| error.in_entry(quoted(name)))? {
            if !insert(key, value) {
                return Err(from.duplicate(name));
            }
            memory = each;
        }
        start = from.position();
        Ok(())
    })?;
    Ok(true)
}
