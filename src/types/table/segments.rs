//! The array of buckets that a table is, small ones in one piece, larger ones in segments that come and go one by one.
//! Touches only the buckets.

use super::bucket::{Bucket, zeroed};

/// Buckets of 64 bytes in a segment.
pub(super) const SEGMENT_BUCKETS: usize = if cfg!(miri) { 16 } else { 512 };

/// The buckets of one table: a power of two, or none.
pub(super) struct Buckets<E> {
    /// Number of buckets less one; 0 when there are none.
    pub(super) mask: usize,
    store: Store<E>,
}

enum Store<E> {
    None,
    Flat(Box<[Bucket<E>]>),
    Segmented(Box<[Segment<E>]>),
}

/// `None` until its first bucket is written, and again once rehashing has passed it.
type Segment<E> = Option<Box<[Bucket<E>; SEGMENT_BUCKETS]>>;

fn new_segment<E>() -> Box<[Bucket<E>; SEGMENT_BUCKETS]> {
    let buckets = zeroed(SEGMENT_BUCKETS);
    buckets.try_into().ok().expect("the length is as asked for")
}

impl<E> Buckets<E> {
    pub(super) const NONE: Self = Self { mask: 0, store: Store::None };

    pub(super) fn new(count: usize) -> Self {
        assert!(count.is_power_of_two());
        let store = if count <= SEGMENT_BUCKETS {
            Store::Flat(zeroed(count))
        } else {
            Store::Segmented((0..count / SEGMENT_BUCKETS).map(|_| None).collect())
        };
        Self { mask: count - 1, store }
    }

    pub(super) fn count(&self) -> usize {
        match self.store {
            Store::None => 0,
            _ => self.mask + 1,
        }
    }

    /// The bucket with this number; None while it is not allocated, and so empty.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&Bucket<E>> {
        match &self.store {
            Store::Flat(buckets) => buckets.get(index),
            Store::Segmented(segments) => {
                let segment = segments.get(index / SEGMENT_BUCKETS)?.as_ref()?;
                Some(&segment[index % SEGMENT_BUCKETS])
            }
            Store::None => None,
        }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Bucket<E>> {
        match &mut self.store {
            Store::Flat(buckets) => buckets.get_mut(index),
            Store::Segmented(segments) => {
                let segment = segments.get_mut(index / SEGMENT_BUCKETS)?.as_mut()?;
                Some(&mut segment[index % SEGMENT_BUCKETS])
            }
            Store::None => None,
        }
    }

    /// As `get_mut`, but allocates.
    #[inline]
    pub(super) fn get_or_alloc(&mut self, index: usize) -> &mut Bucket<E> {
        match &mut self.store {
            Store::Flat(buckets) => &mut buckets[index],
            Store::Segmented(segments) => {
                let segment = segments[index / SEGMENT_BUCKETS].get_or_insert_with(new_segment);
                &mut segment[index % SEGMENT_BUCKETS]
            }
            Store::None => unreachable!("elements go to a table that has been given a size"),
        }
    }

    /// Frees the segment of which `index` is the last bucket.
    pub(super) fn free_behind(&mut self, index: usize) {
        if let Store::Segmented(segments) = &mut self.store
            && (index + 1).is_multiple_of(SEGMENT_BUCKETS)
        {
            segments[index / SEGMENT_BUCKETS] = None;
        }
    }

    /// Bytes of bucket arrays and directory, without children. Reads the directory.
    pub(super) fn mem_size(&self) -> usize {
        match &self.store {
            Store::None => 0,
            Store::Flat(buckets) => size_of_val(&**buckets),
            Store::Segmented(segments) => {
                let live = segments.iter().flatten().map(|segment| size_of_val(&**segment));
                size_of_val(&**segments) + live.sum::<usize>()
            }
        }
    }
}
