//! Owned heap bytes behind one thin pointer. Touches only the global allocator.
//!
//! ```text
//! Thin ──► +----------+---------------------+
//!          | len: u32 | len bytes           |   one allocation, 4-byte aligned
//!          +----------+---------------------+
//! ```
//!
//! A `Box<[u8]>` is two words wide; where millions of handles sit in table slots, the second word is worth saving. The
//! length lives in front of the bytes instead, in the cache line that a reader is about to touch anyway.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error, realloc};
use std::fmt;
use std::ptr::NonNull;

/// Bytes in front of the payload.
const HEADER_BYTES: usize = size_of::<u32>();

/// Owned bytes, one pointer wide (as is `Option<Thin>`). Even an empty one owns an allocation.
///
/// Lengths are below 4 GiB; every constructor panics beyond, so that callers must have bounded their input before.
#[repr(transparent)]
pub struct Thin(NonNull<u8>);

// SAFETY: a Thin owns its allocation exclusively, like Box<[u8]>, and has no interior mutability.
unsafe impl Send for Thin {}
// SAFETY: shared access only reads, see above.
unsafe impl Sync for Thin {}

const _: () = assert!(size_of::<Option<Thin>>() == size_of::<usize>());

fn layout(len: usize) -> Layout {
    assert!(len < u32::MAX as usize, "Thin is limited to 4 GiB");
    Layout::from_size_align(HEADER_BYTES + len, align_of::<u32>()).expect("4 GiB fits a layout")
}

impl Thin {
    /// A copy of `bytes`.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let mut thin = Self::alloc_with(bytes.len(), alloc);
        // SAFETY: the payload has room for exactly `bytes.len()` bytes and is fresh, so it cannot overlap.
        unsafe { thin.payload().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        thin
    }

    /// The concatenation of `parts`, in one allocation.
    #[must_use]
    pub fn concat(parts: &[&[u8]]) -> Self {
        let total = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.len()));
        let mut thin = Self::alloc_with(total, alloc);
        let mut at = thin.payload();
        for part in parts {
            // SAFETY: the parts' lengths add up to the payload's, so each write stays inside it.
            unsafe {
                at.copy_from_nonoverlapping(part.as_ptr(), part.len());
                at = at.add(part.len());
            }
        }
        thin
    }

    /// `len` bytes, zero before `fill` writes them.
    #[must_use]
    pub fn filled(len: usize, fill: impl FnOnce(&mut [u8])) -> Self {
        let mut thin = Self::alloc_with(len, alloc_zeroed);
        fill(thin.as_mut_slice());
        thin
    }

    /// Allocates and writes the header. The payload is as `allocate` left it: the caller must initialise it before
    /// anyone sees the value.
    // SAFETY: of the function type; only the two allocation functions of `std::alloc` are passed.
    fn alloc_with(len: usize, allocate: unsafe fn(Layout) -> *mut u8) -> Self {
        let layout = layout(len);
        // SAFETY: the layout has a non-zero size, for it includes the header.
        let raw = unsafe { allocate(layout) };
        let Some(ptr) = NonNull::new(raw) else { handle_alloc_error(layout) };
        // SAFETY: the allocation is 4-byte aligned and begins with the header; `layout` checked that len fits u32.
        unsafe { ptr.cast::<u32>().write(len as u32) };
        Self(ptr)
    }

    fn payload(&mut self) -> *mut u8 {
        // SAFETY: the payload begins right behind the header (one past the end when empty), inside the allocation.
        unsafe { self.0.as_ptr().add(HEADER_BYTES) }
    }

    /// The number of bytes held.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: every constructor wrote the header.
        unsafe { self.0.cast::<u32>().read() as usize }
    }

    /// Whether no bytes are held.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes follow the header, and are borrowed with self.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().add(HEADER_BYTES), self.len()) }
    }

    /// The bytes, to change in place.
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        let len = self.len();
        // SAFETY: as in as_slice; the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.payload(), len) }
    }

    /// Bytes requested from the allocator, header included.
    #[inline]
    #[must_use]
    pub fn alloc_size(&self) -> usize {
        HEADER_BYTES + self.len()
    }

    /// Changes the length to `new_len`, keeping the common front; new bytes are zero. May move the bytes.
    pub fn resize(&mut self, new_len: usize) {
        let old_len = self.len();
        if new_len == old_len {
            return;
        }
        let new_layout = layout(new_len);
        // SAFETY: self.0 came from the global allocator with this very layout, and the new size is not zero.
        let raw = unsafe { realloc(self.0.as_ptr(), layout(old_len), new_layout.size()) };
        let Some(ptr) = NonNull::new(raw) else { handle_alloc_error(new_layout) };
        self.0 = ptr;
        // SAFETY: the header as in alloc_with; bytes old_len..new_len are inside the new allocation.
        unsafe {
            ptr.cast::<u32>().write(new_len as u32);
            if new_len > old_len {
                self.payload().add(old_len).write_bytes(0, new_len - old_len);
            }
        }
    }
}

impl Drop for Thin {
    fn drop(&mut self) {
        // SAFETY: allocated with the layout that the header's length describes, and freed only here.
        unsafe { dealloc(self.0.as_ptr(), layout(self.len())) };
    }
}

impl Clone for Thin {
    fn clone(&self) -> Self {
        Self::new(self.as_slice())
    }
}

impl PartialEq for Thin {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Thin {}

impl AsRef<[u8]> for Thin {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl fmt::Debug for Thin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thin(\"{}\")", self.as_slice().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_was_given() {
        assert!(Thin::new(b"").is_empty());
        assert_eq!(Thin::new(b"abc").as_slice(), b"abc");
        assert_eq!(Thin::concat(&[b"ab", b"", b"cde"]).as_slice(), b"abcde");
        assert_eq!(Thin::concat(&[]).len(), 0);
        let filled = Thin::filled(5, |bytes| bytes[1] = 7);
        assert_eq!(filled.as_slice(), [0, 7, 0, 0, 0]);
        assert_eq!(filled.alloc_size(), 9);
        assert_eq!(filled.clone(), filled);
    }

    #[test]
    fn resize_keeps_the_front_and_zeroes_the_rest() {
        let mut thin = Thin::new(b"hello");
        thin.resize(2);
        assert_eq!(thin.as_slice(), b"he");
        thin.resize(100_000);
        assert_eq!(thin.len(), 100_000);
        assert_eq!(&thin.as_slice()[..3], b"he\0");
        assert!(thin.as_slice()[2..].iter().all(|&byte| byte == 0));
        thin.as_mut_slice()[99_999] = 1;
        thin.resize(0);
        assert_eq!(thin.as_slice(), b"");
    }
}
