//! The allocator: mimalloc, with a count of the bytes in use. Touches nothing else of the crate. One of the few files with
//! `unsafe`, and the only one with counters that are static: an allocator has no owner to keep them in.
//!
//! Bytes are counted by the size that the allocator really sets aside (see [`class_bytes`]), like Redis's `used_memory`.
//! Nearly everything is allocated by the one thread that serves clients. It adds to a counter that nobody else writes,
//! with a plain load and store; other threads share one that is atomic. The sum of both is right whoever frees what,
//! though each of them may wrap around.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use libmimalloc_sys as mi;

/// The allocator's promise for every allocation at least this large.
const NATURAL_ALIGN: usize = 16;
/// Up to this size, classes are `NATURAL_ALIGN` apart; beyond it there are four to each doubling.
const EVEN_CLASS_BYTES_MAX: usize = 128;
/// From here on a block has pages of its own.
const CLASS_BYTES_MAX: usize = 64 * 1024;
/// Size of a page.
const PAGE_BYTES: usize = 4096;

/// Bytes allocated less bytes freed by the serving thread, wrapping.
static SERVING: AtomicUsize = AtomicUsize::new(0);
/// The same for all other threads together.
static OTHERS: AtomicUsize = AtomicUsize::new(0);
/// Whether a thread has been declared to be the serving one.
static CLAIMED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_SERVING: Cell<bool> = const { Cell::new(false) };
}

/// mimalloc with counters, for `#[global_allocator]`.
pub struct Counting;

/// Makes the calling thread the one whose counting is cheap. Only the first call in a process does anything.
pub fn claim_serving_thread() {
    if !CLAIMED.swap(true, Relaxed) {
        IS_SERVING.set(true);
    }
}

/// Bytes in use by the whole process; 0 where [`Counting`] is not the global allocator.
#[inline]
pub fn used() -> usize {
    SERVING.load(Relaxed).wrapping_add(OTHERS.load(Relaxed))
}

/// Gives memory that is not in use back to the system, as far as the calling thread holds it. With `force`, at once and
/// with all caches. Visits all pages.
pub fn purge(force: bool) {
    // SAFETY: both may be called at any time. A thread that has never allocated is not known yet and would do nothing.
    unsafe {
        mi::mi_thread_init();
        mi::mi_collect(force);
    }
}

/// The allocator's own account of itself, for people.
pub fn report() -> String {
    unsafe extern "C" fn append(part: *const c_char, text: *mut c_void) {
        // SAFETY: the allocator passes a C string, and the pointer that it was given below.
        let (part, text) = unsafe { (CStr::from_ptr(part), &mut *text.cast::<String>()) };
        text.push_str(&part.to_string_lossy());
    }
    let mut text = String::with_capacity(4096);
    // SAFETY: the callback gets back the pointer to `text`, which outlives the call and is not used during it.
    unsafe { mi::mi_stats_print_out(Some(append), (&raw mut text).cast()) };
    text
}

/// The bytes that the allocator sets aside for `size` bytes: multiples of 16 up to 128, then four classes to each
/// doubling, and whole pages for what is larger than 64 KiB.
#[inline]
pub const fn class_bytes(size: usize) -> usize {
    if size <= EVEN_CLASS_BYTES_MAX {
        return (size + (NATURAL_ALIGN - 1)) & !(NATURAL_ALIGN - 1);
    }
    let step = if size <= CLASS_BYTES_MAX { 1 << ((size - 1).ilog2() - 2) } else { PAGE_BYTES };
    (size + (step - 1)) & !(step - 1)
}

/// Adds to the count, wrapping: give it a negative number in two's complement to subtract.
#[inline]
fn count(change: usize) {
    if IS_SERVING.get() {
        // Nobody else writes it.
        SERVING.store(SERVING.load(Relaxed).wrapping_add(change), Relaxed);
    } else {
        OTHERS.fetch_add(change, Relaxed);
    }
}

/// Whether plain allocation gives the alignment asked for.
#[inline]
fn is_natural(layout: Layout) -> bool {
    layout.align() <= NATURAL_ALIGN && layout.align() <= layout.size()
}

// SAFETY: all four hand out and take back mimalloc's blocks as `GlobalAlloc` demands; counting touches no memory of theirs
// and cannot unwind.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(class_bytes(layout.size()));
        if is_natural(layout) {
            // SAFETY: any size will do; the alignment follows from the size.
            return unsafe { mi::mi_malloc(layout.size()) }.cast();
        }
        // SAFETY: a layout's alignment is a power of two.
        unsafe { mi::mi_malloc_aligned(layout.size(), layout.align()) }.cast()
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(class_bytes(layout.size()));
        if is_natural(layout) {
            // SAFETY: as in `alloc`.
            return unsafe { mi::mi_zalloc(layout.size()) }.cast();
        }
        // SAFETY: as in `alloc`.
        unsafe { mi::mi_zalloc_aligned(layout.size(), layout.align()) }.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(class_bytes(layout.size()).wrapping_neg());
        // SAFETY: the caller passes a live block of this allocator.
        unsafe { mi::mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(class_bytes(new_size).wrapping_sub(class_bytes(layout.size())));
        if layout.align() <= NATURAL_ALIGN && layout.align() <= new_size {
            // SAFETY: the caller passes a live block of this allocator; the alignment follows from the size.
            return unsafe { mi::mi_realloc(block.cast(), new_size) }.cast();
        }
        // SAFETY: as above, and a layout's alignment is a power of two.
        unsafe { mi::mi_realloc_aligned(block.cast(), new_size, layout.align()) }.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_allocators() {
        for size in (9..100_000).chain([1 << 20, (1 << 20) + 1, 50_000_000]) {
            // SAFETY: a pure function.
            assert_eq!(class_bytes(size), unsafe { mi::mi_good_size(size) }, "for {size} bytes");
        }
    }

    #[test]
    fn blocks_are_counted_aligned_and_keep_their_content() {
        // No other test uses the counters, for the allocator of tests is the system's.
        let before = used();
        for (size, align) in [(1, 1), (5, 16), (90, 8), (64, 64), (32_768, 64), (100_000, 4096)] {
            let layout = Layout::from_size_align(size, align).expect("a layout");
            // SAFETY: blocks are written within their size, and given back with the layout they have.
            unsafe {
                let block = Counting.alloc(layout);
                assert_eq!((block as usize % align, used() - before), (0, class_bytes(size)));
                block.write_bytes(7, size);
                let block = Counting.realloc(block, layout, size * 3);
                let larger = Layout::from_size_align(size * 3, align).expect("a layout");
                assert_eq!((block as usize % align, used() - before), (0, class_bytes(size * 3)));
                assert!(std::slice::from_raw_parts(block, size).iter().all(|&byte| byte == 7));
                Counting.dealloc(block, larger);
                let zeroed = Counting.alloc_zeroed(layout);
                assert!(std::slice::from_raw_parts(zeroed, size).iter().all(|&byte| byte == 0));
                Counting.dealloc(zeroed, layout);
            }
            assert_eq!(used(), before);
        }
    }

    #[test]
    fn the_allocator_describes_itself() {
        assert!(report().contains("mimalloc") || report().contains("heap"), "{}", report());
        purge(false);
        purge(true);
    }
}
