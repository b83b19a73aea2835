//! One cache line of the hash table, and the chain of such lines that hangs on it when it overflows. All of the table's
//! `unsafe` is here; what leaves this file is safe to call in any order. Touches only the allocator.
//!
//! ```text
//! byte   0        1 ... 7          8 ... 15      ...     56 ... 63
//!      +--------+----------------+--------------+-----+--------------------------+
//!      | child? | tag of slot 0-6| slot 0       | ... | slot 6, or the child     |
//!      +--------+----------------+--------------+-----+--------------------------+
//! ```
//!
//! A tag is eight bits of the key's hash, never 0; tag 0 marks a slot without an element. Comparing a tag with all seven
//! is a handful of instructions on the word `meta`, and a wrong key passes only once in 255 times, so that a look-up
//! nearly always touches this line and the element it wants.
//!
//! A full bucket grows a child: its slot 6 moves there and becomes the pointer to it. Invariants of a chain:
//! 1. Every bucket but the last is full (six elements and a child), so that only the last one can take an element.
//! 2. A child holds two elements or more; with one left, that one moves back into its parent's slot 6.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::num::NonZeroU8;
use std::ptr::NonNull;

/// Eight bits of a key's hash.
pub(super) type Tag = NonZeroU8;
/// Slots of a bucket.
pub(super) const SLOTS: usize = 7;
/// The slot that becomes the pointer to the child.
const CHILD_SLOT: usize = SLOTS - 1;
/// Set in `meta` while slot 6 points to a child.
const CHILD: u64 = 1;

/// What `meta` says of one slot: nothing (tag 0), an element (any other tag), or the child (slot 6 under `CHILD`).
union Slot<E> {
    elem: ManuallyDrop<E>,
    child: ManuallyDrop<Box<Bucket<E>>>,
}

/// A cache line of up to seven elements. All zero bytes are an empty bucket.
#[repr(C, align(64))]
pub(super) struct Bucket<E> {
    meta: u64,
    slots: [MaybeUninit<Slot<E>>; SLOTS],
}

/// Slot numbers, lowest first, from a word with bit 7 of byte `slot + 1` set for each.
#[derive(Clone, Copy)]
pub(super) struct Slots(u64);

impl Iterator for Slots {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let slot = self.0.trailing_zeros() as usize / 8 - 1;
        self.0 &= self.0 - 1;
        Some(slot)
    }
}

/// Bit 7 of every byte of `word` that is zero, but of byte 0. Exact: no carry passes from byte to byte.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    const LOW7: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW7) + LOW7) | word) & 0x8080_8080_8080_8000
}

/// Brings the cache line of `ptr` closer. A hint: any address will do.
#[inline]
fn prefetch_line(ptr: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of the x86_64 baseline, and a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(ptr.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = ptr;
}

/// `count` empty buckets from the zeroing allocator, which need not write fresh pages.
pub(super) fn zeroed<E>(count: usize) -> Box<[Bucket<E>]> {
    const { assert!(size_of::<E>() == size_of::<usize>(), "an element is one pointer wide") };
    const { assert!(size_of::<Bucket<E>>() == 64) };
    let layout = Layout::array::<Bucket<E>>(count).expect("a bucket array fits the address space");
    if layout.size() == 0 {
        return Box::new([]);
    }
    // SAFETY: the size is not zero.
    let raw = unsafe { alloc_zeroed(layout) };
    let Some(ptr) = NonNull::new(raw) else { handle_alloc_error(layout) };
    let slice = NonNull::slice_from_raw_parts(ptr.cast::<Bucket<E>>(), count);
    // SAFETY: allocated above by the global allocator with this layout; all zero is a valid (empty) bucket, because
    // meta is an integer and slots may be uninitialised.
    unsafe { Box::from_raw(slice.as_ptr()) }
}

/// One bucket: private steps that rely on the caller to know what a slot holds.
impl<E> Bucket<E> {
    fn empty() -> Self {
        Self { meta: 0, slots: [const { MaybeUninit::uninit() }; SLOTS] }
    }

    #[inline]
    fn has_child(&self) -> bool {
        self.meta & CHILD != 0
    }

    /// Slots with an element.
    #[inline]
    fn occupied(&self) -> Slots {
        Slots(zero_bytes(self.meta) ^ 0x8080_8080_8080_8000)
    }

    /// Slots whose element has this tag.
    #[inline]
    fn tagged(&self, tag: Tag) -> Slots {
        Slots(zero_bytes(self.meta ^ (u64::from(tag.get()) * 0x0101_0101_0101_0101)))
    }

    fn count(&self) -> usize {
        self.occupied().0.count_ones() as usize
    }

    /// The tag of the element in `slot`, if one is there.
    fn tag(&self, slot: usize) -> Option<Tag> {
        Tag::new((self.meta >> (8 * (slot + 1))) as u8)
    }

    /// The element in `slot`.
    ///
    /// # Safety
    /// The slot holds an element.
    #[inline]
    unsafe fn elem(&self, slot: usize) -> &E {
        debug_assert!(self.tag(slot).is_some());
        // SAFETY: a tag other than 0 says that the slot holds an initialised element.
        unsafe { &self.slots[slot].assume_init_ref().elem }
    }

    /// Writes a slot that holds nothing.
    fn put(&mut self, slot: usize, tag: Tag, elem: E) {
        debug_assert!(self.tag(slot).is_none());
        debug_assert!(slot < CHILD_SLOT || !self.has_child());
        self.slots[slot].write(Slot { elem: ManuallyDrop::new(elem) });
        self.meta |= u64::from(tag.get()) << (8 * (slot + 1));
    }

    /// Empties a slot.
    ///
    /// # Safety
    /// The slot holds an element.
    unsafe fn take(&mut self, slot: usize) -> (Tag, E) {
        let tag = self.tag(slot).expect("the caller's duty");
        self.meta &= !(0xff << (8 * (slot + 1)));
        // SAFETY: the tag said that the slot holds an element; with the tag cleared, nobody reads it a second time.
        let slot = unsafe { self.slots[slot].assume_init_read() };
        // SAFETY: as above.
        (tag, ManuallyDrop::into_inner(unsafe { slot.elem }))
    }

    #[inline]
    fn child(&self) -> Option<&Self> {
        // SAFETY: under CHILD, slot 6 holds an initialised box.
        self.has_child().then(|| unsafe { &**self.slots[CHILD_SLOT].assume_init_ref().child })
    }

    fn child_mut(&mut self) -> Option<&mut Self> {
        if !self.has_child() {
            return None;
        }
        // SAFETY: as in child.
        Some(unsafe { &mut *self.slots[CHILD_SLOT].assume_init_mut().child })
    }

    /// Detaches the child. Slot 6 holds nothing after.
    fn take_child(&mut self) -> Option<Box<Self>> {
        if !self.has_child() {
            return None;
        }
        self.meta &= !CHILD;
        // SAFETY: as in child; with the bit cleared nobody reads the box a second time.
        let slot = unsafe { self.slots[CHILD_SLOT].assume_init_read() };
        // SAFETY: as above.
        Some(ManuallyDrop::into_inner(unsafe { slot.child }))
    }

    fn set_child(&mut self, child: Box<Self>) {
        debug_assert!(!self.has_child() && self.tag(CHILD_SLOT).is_none());
        self.slots[CHILD_SLOT].write(Slot { child: ManuallyDrop::new(child) });
        self.meta |= CHILD;
    }

    /// Invariant 2: moves the last element of a childless child back into slot 6. Says whether the child is gone.
    fn absorb_child(&mut self) -> bool {
        if self.child().is_none_or(|child| child.has_child() || child.count() > 1) {
            return false;
        }
        let mut child = self.take_child().expect("looked above");
        let only = child.occupied().next();
        if let Some(slot) = only {
            // SAFETY: the slot is occupied.
            let (tag, elem) = unsafe { child.take(slot) };
            self.put(CHILD_SLOT, tag, elem);
        }
        true
    }

    /// Takes an element out of the last bucket of a chain that has a child, shortening it if that leaves only one there.
    /// The second value says whether a bucket was freed.
    fn pop_tail(&mut self) -> ((Tag, E), bool) {
        let mut parent = self;
        while parent.child().is_some_and(Bucket::has_child) {
            parent = parent.child_mut().expect("looked above");
        }
        let last = parent.child_mut().expect("the caller looked");
        let slot = last.occupied().next().expect("a child holds two elements or more");
        // SAFETY: the slot is occupied.
        let taken = unsafe { last.take(slot) };
        (taken, parent.absorb_child())
    }

    /// Takes the first element of the chain that `locate` finds a slot for; it is asked once a bucket, and answers with
    /// an occupied slot or nothing. The second value says whether a bucket was freed.
    fn remove_at(&mut self, mut locate: impl FnMut(&Self) -> Option<usize>) -> Option<(E, bool)> {
        if let Some(slot) = locate(self) {
            return Some(self.remove_and_refill(slot));
        }
        let mut parent = self;
        loop {
            let child = parent.child_mut()?;
            if let Some(slot) = locate(child) {
                let (elem, freed) = child.remove_and_refill(slot);
                return Some((elem, freed || parent.absorb_child()));
            }
            parent = parent.child_mut().expect("it had one above");
        }
    }

    /// Takes an occupied slot's element, and keeps invariant 1 by an element of the chain's last bucket.
    fn remove_and_refill(&mut self, slot: usize) -> (E, bool) {
        assert!(self.tag(slot).is_some(), "only an occupied slot can be emptied");
        // SAFETY: just asserted.
        let (_, elem) = unsafe { self.take(slot) };
        if !self.has_child() {
            return (elem, false);
        }
        let ((tag, moved), freed) = self.pop_tail();
        self.put(slot, tag, moved);
        (elem, freed)
    }
}

/// The chain that begins with a bucket.
impl<E> Bucket<E> {
    /// The elements.
    #[inline]
    pub(super) fn iter(&self) -> ChainIter<'_, E> {
        ChainIter { bucket: self, slots: self.occupied() }
    }

    /// How many elements and how many children.
    pub(super) fn measure(&self) -> (usize, usize) {
        let (mut elements, mut children) = (self.count(), 0);
        let mut bucket = self;
        while let Some(child) = bucket.child() {
            elements += child.count();
            children += 1;
            bucket = child;
        }
        (elements, children)
    }

    /// Adds an element without looking whether its key is there. Says whether a bucket was allocated.
    #[inline]
    pub(super) fn insert(&mut self, tag: Tag, elem: E) -> bool {
        let mut last = self;
        while last.has_child() {
            last = last.child_mut().expect("looked above");
        }
        if let Some(slot) = Slots(zero_bytes(last.meta)).next() {
            last.put(slot, tag, elem);
            return false;
        }
        let mut child = Box::new(Self::empty());
        // SAFETY: no slot is free and there is no child, so slot 6 is occupied.
        let (moved_tag, moved) = unsafe { last.take(CHILD_SLOT) };
        child.put(0, moved_tag, moved);
        child.put(1, tag, elem);
        last.set_child(child);
        true
    }

    /// Takes the `nth` element, counting as `iter` does. The second value says whether a bucket was freed.
    pub(super) fn remove_nth(&mut self, mut nth: usize) -> Option<(E, bool)> {
        self.remove_at(|bucket| {
            let slot = bucket.occupied().nth(nth);
            nth = nth.saturating_sub(bucket.count());
            slot
        })
    }

    /// Empties the chain into `sink`, with each element's tag, and says how many buckets were freed.
    pub(super) fn drain(&mut self, mut sink: impl FnMut(Tag, E)) -> usize {
        let mut children = 0;
        let mut next = self.take_child();
        self.drain_slots(&mut sink);
        while let Some(mut bucket) = next {
            children += 1;
            next = bucket.take_child();
            bucket.drain_slots(&mut sink);
        }
        children
    }

    fn drain_slots(&mut self, sink: &mut impl FnMut(Tag, E)) {
        for slot in self.occupied() {
            // SAFETY: the slot was occupied when the loop began, and the loop visits it once.
            let (tag, elem) = unsafe { self.take(slot) };
            sink(tag, elem);
        }
    }

    /// Hint: the bucket is about to be read.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch_line(std::ptr::from_ref(self).cast());
    }

    /// Hint: the elements with this tag are about to be read. Reads the bucket itself, not its children.
    #[inline]
    pub(super) fn prefetch_tagged(&self, tag: Tag) {
        for slot in self.tagged(tag) {
            self.prefetch_slot(slot);
        }
    }

    /// Hint: the elements of the bucket are about to be read.
    #[inline]
    pub(super) fn prefetch_elements(&self) {
        for slot in self.occupied() {
            self.prefetch_slot(slot);
        }
    }

    #[inline]
    fn prefetch_slot(&self, slot: usize) {
        debug_assert!(self.tag(slot).is_some());
        // SAFETY: the slot is initialised, as its tag says, and one pointer wide, as `zeroed` checks; the address is
        // only a hint.
        prefetch_line(unsafe { self.slots[slot].as_ptr().cast::<*const u8>().read() });
    }
}

/// The chain, by tag and a test of the element.
impl<E> Bucket<E> {
    #[inline]
    fn position(&self, tag: Tag, is_it: impl Fn(&E) -> bool) -> Option<usize> {
        // SAFETY: `tagged` yields occupied slots only.
        self.tagged(tag).find(|&slot| is_it(unsafe { self.elem(slot) }))
    }

    /// The first element with this tag that passes the test.
    #[inline]
    pub(super) fn find(&self, tag: Tag, is_it: impl Fn(&E) -> bool) -> Option<&E> {
        let mut bucket = self;
        loop {
            if let Some(slot) = bucket.position(tag, &is_it) {
                // SAFETY: position yields an occupied slot.
                return Some(unsafe { bucket.elem(slot) });
            }
            bucket = bucket.child()?;
        }
    }

    /// As `find`, to change.
    #[inline]
    pub(super) fn find_mut(&mut self, tag: Tag, is_it: impl Fn(&E) -> bool) -> Option<&mut E> {
        let mut bucket = self;
        loop {
            if let Some(slot) = bucket.position(tag, &is_it) {
                // SAFETY: position yields an occupied slot.
                return Some(unsafe { &mut *bucket.slots[slot].assume_init_mut().elem });
            }
            bucket = bucket.child_mut()?;
        }
    }

    /// Takes what `find` finds. The second value says whether a bucket was freed.
    #[inline]
    pub(super) fn remove(&mut self, tag: Tag, is_it: impl Fn(&E) -> bool) -> Option<(E, bool)> {
        self.remove_at(|bucket| bucket.position(tag, &is_it))
    }
}

impl<E> Drop for Bucket<E> {
    fn drop(&mut self) {
        // Iterative, so that a chain of any length costs no stack.
        if self.meta != 0 {
            self.drain(|_, elem| drop(elem));
        }
    }
}

/// The elements of a chain, see [`Bucket::iter`].
pub(super) struct ChainIter<'a, E> {
    bucket: &'a Bucket<E>,
    slots: Slots,
}

impl<'a, E> Iterator for ChainIter<'a, E> {
    type Item = &'a E;

    #[inline]
    fn next(&mut self) -> Option<&'a E> {
        loop {
            if let Some(slot) = self.slots.next() {
                // SAFETY: the slots come from `occupied`, and the bucket is borrowed for 'a.
                return Some(unsafe { self.bucket.elem(slot) });
            }
            self.bucket = self.bucket.child()?;
            self.slots = self.bucket.occupied();
        }
    }
}
