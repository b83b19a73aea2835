//! `Squeezed`: what a node of a list holds, compressed. Touches `base::lzf`, `types::{listpack, thin, list}`.
//!
//! ```text
//! Thin ─► | packed? u8 | length u32 | LZF |      length: of what was compressed
//! ```
//!
//! A pack is compressed in Redis's serialised form.

use super::Part;
use crate::base::lzf;
use crate::types::listpack::Listpack;
use crate::types::thin::Thin;

/// Bytes in front of the compressed ones.
const HEADER: usize = 5;
/// What is shorter is not worth the trouble.
const LEN_MIN: usize = 48;
/// Compressing must save so many bytes.
const SAVED_MIN: usize = 8;

/// What a node holds, decompressed.
pub(super) enum Content {
    Packed(Listpack),
    Plain(Thin),
}

/// A node's content, compressed.
#[derive(Clone)]
pub(super) struct Squeezed(Thin);

impl Squeezed {
    /// Compresses a content; `None` if that makes it hardly smaller.
    pub(super) fn new(part: Part<'_>) -> Option<Self> {
        let mut serialised = Vec::new();
        let (packed, bytes) = match part {
            Part::Packed(pack) => {
                pack.to_redis_bytes(&mut serialised);
                (true, serialised.as_slice())
            }
            Part::Plain(text) => (false, text),
        };
        if bytes.len() < LEN_MIN {
            return None;
        }
        let len = u32::try_from(bytes.len()).ok()?;
        let squeezed = lzf::compress(bytes, bytes.len() - SAVED_MIN - 1)?;
        Some(Self(Thin::concat(&[&[u8::from(packed)], &len.to_le_bytes(), &squeezed])))
    }

    /// The content as it was.
    pub(super) fn open(&self) -> Content {
        let (header, squeezed) = self.0.as_slice().split_first_chunk::<HEADER>().expect("it has a header");
        let [packed, l0, l1, l2, l3] = *header;
        let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let bytes = lzf::decompress(squeezed, len).expect("what `new` has compressed");
        if packed == 1 {
            Content::Packed(Listpack::from_redis_bytes(&bytes).expect("what a pack was serialised to"))
        } else {
            Content::Plain(Thin::new(&bytes))
        }
    }

    /// Heap bytes owned.
    pub(super) fn mem_size(&self) -> usize {
        self.0.alloc_size()
    }
}
