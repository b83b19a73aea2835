//! The geometry of GEO commands: places as 52-bit cell numbers, the cells around a search, distances. Pure arithmetic.
//!
//! A coordinate is scaled to 26 bits of its range. The bits of both are interleaved, longitude first, so that the cell
//! number's leading `2 * step` bits name a rectangle, its `step` halvings of either side:
//!
//! ```text
//! bit 51   50   49   48         1    0
//!     lon  lat  lon  lat  ...  lon  lat        the score of a place in its sorted set
//! ```
//! A range of scores is so a rectangle, and a search looks through up to nine of them. Every formula is computed in the
//! order that Redis has it in, since its rounding shows in replies.

use std::f64::consts::PI;

/// Halvings of a place's own cell.
pub const STEP_MAX: u32 = 26;

/// Bits of a place's cell number.
const BITS: u32 = 2 * STEP_MAX;

/// Longitudes and latitudes that have a cell, in degrees. The poles lie outside, as in web maps.
pub const LONGITUDES: Span = Span { min: -180.0, max: 180.0 };
/// See [`LONGITUDES`].
pub const LATITUDES: Span = Span { min: -85.05112878, max: 85.05112878 };

/// The earth's quadratic mean radius, in metres.
const EARTH_RADIUS_METRES: f64 = 6_372_797.560856;
/// Half the length of the equator in the web projection, in metres.
const HALF_EQUATOR_METRES: f64 = 20_037_726.37;

const LON_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;
const LAT_BITS: u64 = 0x5555_5555_5555_5555;

/// Both ends of something, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The lower end.
    pub min: f64,
    /// The upper end.
    pub max: f64,
}

impl Span {
    /// Whether `degrees` lies inside. NaN does not.
    pub fn contains(&self, degrees: f64) -> bool {
        (self.min..=self.max).contains(&degrees)
    }

    /// Which of `2^step` equal parts `degrees` lies in; the upper end lies behind the last.
    fn part(&self, degrees: f64, step: u32) -> u32 {
        let offset = (degrees - self.min) / (self.max - self.min);
        (offset * (1u64 << step) as f64) as u32
    }

    /// The ends of that part.
    fn part_span(&self, part: u32, step: u32) -> Span {
        let (parts, width) = ((1u64 << step) as f64, self.max - self.min);
        let end = |part: u32| self.min + (f64::from(part) / parts) * width;
        Span { min: end(part), max: end(part.wrapping_add(1)) }
    }

    /// The middle, which is kept inside `bounds`.
    fn middle(&self, bounds: &Span) -> f64 {
        ((self.min + self.max) / 2.0).clamp(bounds.min, bounds.max)
    }
}

/// A place, in degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// East of Greenwich.
    pub lon: f64,
    /// North of the equator.
    pub lat: f64,
}

/// Spreads the bits of a number out to the even positions.
fn spread(value: u32) -> u64 {
    let mut x = u64::from(value);
    x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
    x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | (x << 2)) & 0x3333_3333_3333_3333;
    (x | (x << 1)) & LAT_BITS
}

/// The inverse of [`spread`]; odd positions are ignored.
fn gather(bits: u64) -> u32 {
    let mut x = bits & LAT_BITS;
    x = (x | (x >> 1)) & 0x3333_3333_3333_3333;
    x = (x | (x >> 2)) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | (x >> 4)) & 0x00ff_00ff_00ff_00ff;
    x = (x | (x >> 8)) & 0x0000_ffff_0000_ffff;
    ((x | (x >> 16)) & 0xffff_ffff) as u32
}

/// A rectangle of the grid that `step` halvings make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    bits: u64,
    step: u32,
}

/// The ends of a cell.
#[derive(Clone, Copy, Debug)]
struct Area {
    lon: Span,
    lat: Span,
}

impl Cell {
    fn of(point: Point, step: u32) -> Cell {
        Cell::within(point, &LATITUDES, step)
    }

    fn within(point: Point, latitudes: &Span, step: u32) -> Cell {
        let (lon, lat) = (LONGITUDES.part(point.lon, step), latitudes.part(point.lat, step));
        Cell { bits: spread(lat) | spread(lon) << 1, step }
    }

    fn area(self) -> Area {
        Area {
            lon: LONGITUDES.part_span(gather(self.bits >> 1), self.step),
            lat: LATITUDES.part_span(gather(self.bits), self.step),
        }
    }

    /// The cell so many columns east and rows north, round the edges of the grid.
    fn moved(self, east: i64, north: i64) -> Cell {
        let all = u64::MAX >> (64 - 2 * self.step);
        let lon = move_bits(self.bits & LON_BITS, LON_BITS & all, LAT_BITS & all, east);
        let lat = move_bits(self.bits & LAT_BITS, LAT_BITS & all, LON_BITS & all, north);
        Cell { bits: lon | lat, ..self }
    }

    /// The scores of the places in it: from the first, and below the second.
    pub fn scores(self) -> (f64, f64) {
        let shift = BITS - 2 * self.step;
        ((self.bits << shift) as f64, ((self.bits + 1) << shift) as f64)
    }
}

/// Adds `by` (-1, 0 or 1) to a number that is spread over the bits of `mask`, with `gaps` between them. Filled with
/// ones, the gaps let a carry run through.
fn move_bits(number: u64, mask: u64, gaps: u64, by: i64) -> u64 {
    match by {
        // Unmasked: the eastern and northern ends of the grid have one bit more.
        0 => number,
        1.. => number.wrapping_add(gaps.wrapping_add(1)) & mask,
        _ => (number | gaps).wrapping_sub(gaps.wrapping_add(1)) & mask,
    }
}

/// The score of a place.
pub fn score(point: Point) -> f64 {
    Cell::of(point, STEP_MAX).bits as f64
}

/// The place that a score stands for: the middle of its cell. Scores that no place has give some place, the one that
/// Redis gives on x86-64.
pub fn place(score: f64) -> Point {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    let bits = if score < TWO_63 {
        score as i64 as u64
    } else if score < 2.0 * TWO_63 {
        score as u64
    } else {
        0
    };
    let area = Cell { bits, step: STEP_MAX }.area();
    Point { lon: area.lon.middle(&LONGITUDES), lat: area.lat.middle(&LATITUDES) }
}

/// The eleven characters of a place's geohash, as <http://geohash.org> has them: with latitudes up to the poles. The
/// last one is always `0`, for want of bits.
pub fn geohash(point: Point) -> [u8; 11] {
    const ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
    let bits = Cell::within(point, &Span { min: -90.0, max: 90.0 }, STEP_MAX).bits;
    std::array::from_fn(|at| match at {
        10 => b'0',
        _ => ALPHABET[(bits >> (BITS as usize - 5 * (at + 1))) as usize & 31],
    })
}

fn radians(degrees: f64) -> f64 {
    degrees * (PI / 180.0)
}

fn degrees(radians: f64) -> f64 {
    radians / (PI / 180.0)
}

fn latitude_distance(a: f64, b: f64) -> f64 {
    EARTH_RADIUS_METRES * (radians(b) - radians(a)).abs()
}

/// The great circle distance in metres, by the haversine formula.
pub fn distance(a: Point, b: Point) -> f64 {
    let v = ((radians(b.lon) - radians(a.lon)) / 2.0).sin();
    if v == 0.0 {
        return latitude_distance(a.lat, b.lat);
    }
    let (lat_a, lat_b) = (radians(a.lat), radians(b.lat));
    let u = ((lat_b - lat_a) / 2.0).sin();
    let h = u * u + lat_a.cos() * lat_b.cos() * v * v;
    // Opposite points can round to a little more than 1.
    2.0 * EARTH_RADIUS_METRES * h.sqrt().min(1.0).asin()
}

/// The outline of a search.
#[derive(Clone, Copy, Debug)]
pub enum Outline {
    /// Around the centre.
    Circle {
        /// In the unit of the search.
        radius: f64,
    },
    /// With the centre in the middle.
    Box {
        /// East to west, in the unit of the search.
        width: f64,
        /// North to south, in the unit of the search.
        height: f64,
    },
}

/// What a search covers.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its centre.
    pub center: Point,
    /// Its outline.
    pub outline: Outline,
    /// Metres of one unit.
    pub unit: f64,
}

impl Shape {
    /// The distance of `point` from the centre in metres, if it lies inside.
    pub fn distance_to(&self, point: Point) -> Option<f64> {
        match self.outline {
            Outline::Circle { radius } => {
                let distance = distance(self.center, point);
                (distance <= radius * self.unit).then_some(distance)
            }
            Outline::Box { width, height } => {
                let on_meridian = Point { lon: self.center.lon, lat: point.lat };
                let inside = latitude_distance(point.lat, self.center.lat) <= height * self.unit / 2.0
                    && distance(point, on_meridian) <= width * self.unit / 2.0;
                inside.then(|| distance(self.center, point))
            }
        }
    }

    /// Spans that enclose it, more or less: the circle of latitude nearer to a pole decides the width, on both sides.
    fn bounds(&self) -> Area {
        let (width, height) = match self.outline {
            Outline::Circle { radius } => (radius, radius),
            Outline::Box { width, height } => (width / 2.0, height / 2.0),
        };
        let (width, height) = (self.unit * width, self.unit * height);
        let Point { lon, lat } = self.center;
        let lat_delta = degrees(height / EARTH_RADIUS_METRES);
        let edge = if lat < 0.0 { lat - lat_delta } else { lat + lat_delta };
        let lon_delta = degrees(width / EARTH_RADIUS_METRES / radians(edge).cos());
        Area {
            lon: Span { min: lon - lon_delta, max: lon + lon_delta },
            lat: Span { min: lat - lat_delta, max: lat + lat_delta },
        }
    }

    /// How far its outermost point is from the centre, in metres.
    fn reach(&self) -> f64 {
        let reach = match self.outline {
            Outline::Circle { radius } => radius,
            Outline::Box { width, height } => {
                ((width / 2.0) * (width / 2.0) + (height / 2.0) * (height / 2.0)).sqrt()
            }
        };
        reach * self.unit
    }

    /// The cells to look through, in Redis's order, which is that of unsorted replies. Together they cover the shape.
    pub fn cells(&self) -> Vec<Cell> {
        let bounds = self.bounds();
        let mut step = step_for(self.reach(), self.center.lat);
        let mut cell = Cell::of(self.center, step);
        if step > 1 && !neighbours_cover(cell, &bounds) {
            step -= 1;
            cell = Cell::of(self.center, step);
        }
        let area = cell.area();
        // A side that the middle cell reaches beyond needs no neighbours; with a single halving they are all needed.
        let clip = step >= 2;
        let south = !(clip && area.lat.min < bounds.lat.min);
        let north = !(clip && area.lat.max > bounds.lat.max);
        let west = !(clip && area.lon.min < bounds.lon.min);
        let east = !(clip && area.lon.max > bounds.lon.max);
        let moves = [
            (0, 0, true),
            (0, 1, north),
            (0, -1, south),
            (1, 0, east),
            (-1, 0, west),
            (1, 1, north && east),
            (-1, 1, north && west),
            (1, -1, south && east),
            (-1, -1, south && west),
        ];
        let mut cells: Vec<Cell> = Vec::with_capacity(moves.len());
        for (columns, rows, _) in moves.into_iter().filter(|(_, _, needed)| *needed) {
            let next = cell.moved(columns, rows);
            // In a coarse grid two ways round the earth lead to the same cell.
            if !cells.contains(&next) {
                cells.push(next);
            }
        }
        cells
    }
}

/// So many halvings that a cell and its neighbours cover a circle of that radius, mostly.
fn step_for(radius_metres: f64, lat: f64) -> u32 {
    if radius_metres == 0.0 {
        return STEP_MAX;
    }
    let (mut radius, mut step) = (radius_metres, 1i32);
    while radius < HALF_EQUATOR_METRES {
        radius *= 2.0;
        step += 1;
    }
    step -= 2;
    // Meridians draw together towards the poles.
    step -= i32::from(lat.abs() > 66.0) + i32::from(lat.abs() > 80.0);
    step.clamp(1, STEP_MAX as i32) as u32
}

/// Whether a cell's neighbours reach the bounds on every side.
fn neighbours_cover(cell: Cell, bounds: &Area) -> bool {
    cell.moved(0, 1).area().lat.max >= bounds.lat.max
        && cell.moved(0, -1).area().lat.min <= bounds.lat.min
        && cell.moved(1, 0).area().lon.max >= bounds.lon.max
        && cell.moved(-1, 0).area().lon.min <= bounds.lon.min
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Rand;
    use rand::{Rng, SeedableRng};

    fn random_point(rng: &mut Rand) -> Point {
        let lon = rng.random_range(LONGITUDES.min..=LONGITUDES.max);
        Point { lon, lat: rng.random_range(LATITUDES.min..=LATITUDES.max) }
    }

    /// Values from a Redis 7.0 server.
    #[test]
    fn scores_places_and_geohashes_are_redis_s() {
        let palermo = Point { lon: 13.361389, lat: 38.115556 };
        assert_eq!(score(palermo), 3_479_099_956_230_698.0);
        let stored = place(score(palermo));
        assert_eq!(
            format!("{:.17} {:.17}", stored.lon, stored.lat),
            "13.36138933897018433 38.11555639549629859"
        );
        assert_eq!(&geohash(stored), b"sqc8b49rny0");
        let catania = place(score(Point { lon: 15.087269, lat: 37.502669 }));
        assert_eq!(format!("{:.4}", distance(stored, catania)), "166274.1516");
    }

    #[test]
    fn any_score_has_a_place() {
        for score in [-1.0, f64::INFINITY, f64::NEG_INFINITY, 1e19, 1e300, -1e300, 0.5] {
            let Point { lon, lat } = place(score);
            assert!(LONGITUDES.contains(lon) && LATITUDES.contains(lat), "{score}");
        }
    }

    #[test]
    fn spreading_is_undone() {
        let mut rng = Rand::seed_from_u64(3);
        for _ in 0..1000 {
            let value: u32 = rng.random();
            assert_eq!(gather(spread(value)), value);
            assert_eq!(gather(spread(value) | rng.random::<u64>() & LON_BITS), value);
        }
    }

    #[test]
    fn moves_wrap_round_the_grid() {
        let mut rng = Rand::seed_from_u64(4);
        for _ in 0..1000 {
            let cell = Cell::of(random_point(&mut rng), rng.random_range(1..=STEP_MAX));
            let side = 1i64 << cell.step;
            let (east, north) = (rng.random_range(-1..=1), rng.random_range(-1..=1));
            let moved = cell.moved(east, north);
            let expected = |bits: u64, by: i64| (i64::from(gather(bits)) + by).rem_euclid(side);
            assert_eq!(i64::from(gather(moved.bits >> 1)), expected(cell.bits >> 1, east), "{cell:?}");
            assert_eq!(i64::from(gather(moved.bits)), expected(cell.bits, north), "{cell:?}");
        }
    }

    /// A place inside a small shape is in exactly one of its cells. (Big ones near the poles are not fully covered, as
    /// in Redis.)
    #[test]
    fn cells_cover_the_shape() {
        for seed in 0..3000 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut center = random_point(&mut rng);
            center.lat *= 0.7;
            let size = 10f64.powf(rng.random_range(0.0..5.5));
            let outline = if rng.random() {
                Outline::Circle { radius: size }
            } else {
                Outline::Box { width: size, height: size * rng.random_range(0.1..2.0) }
            };
            let shape = Shape { center, outline, unit: 1.0 };
            let (cells, reach) = (shape.cells(), degrees(size / EARTH_RADIUS_METRES));
            for _ in 0..50 {
                let lon = center.lon + rng.random_range(-reach..=reach);
                let point = Point { lon, lat: center.lat + rng.random_range(-reach..=reach) };
                if !LONGITUDES.contains(lon) || shape.distance_to(point).is_none() {
                    continue;
                }
                let score = score(point);
                let holding = cells.iter().filter(|cell| (cell.scores().0..cell.scores().1).contains(&score));
                assert_eq!(holding.count(), 1, "seed {seed} {shape:?} {point:?}");
            }
        }
    }
}
