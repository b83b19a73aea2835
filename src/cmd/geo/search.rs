//! GEOSEARCH, GEOSEARCHSTORE and the older GEORADIUS commands: the places inside a circle or a box. Touches db, types,
//! proto and base.

use std::cmp::Ordering;

use super::cells::{self, Outline, Point, Shape};
use super::{point, put_distance, put_point, unit_metres};
use crate::base::error::CmdError;
use crate::base::num::{parse_f64, parse_i64};
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Deprecated, Flags, Group, KeyFlags, KeySpec};
use crate::cmd::zsets;
use crate::proto::reply::Reply;
use crate::types::Item;
use crate::types::zrange::{ScoreBound, ScoreRange};
use crate::types::zset::ZSet;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "georadius",
        summary: "Finds the places around a point, and may store them.",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) for N places in the square around the circle and M in the index.",
        arity: -6,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::MOVABLEKEYS),
        acl: Acl::GEO,
        keys: &[
            KeySpec::one(KeyFlags::RO_ACCESS),
            KeySpec::after("STORE", 6, KeyFlags::OW_UPDATE),
            KeySpec::after("STOREDIST", 6, KeyFlags::OW_UPDATE),
        ],
        syntax: "key longitude:double latitude:double radius:double unit(M|KM|FT|MI) [WITHCOORD] \
            [WITHDIST] [WITHHASH] [count-block{COUNT count:int [ANY@6.2.0]}] [order(ASC|DESC)] \
            [store(STORE storekey:key\"key\"|STOREDIST storedistkey:key\"key\")]",
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` or `GEOSEARCHSTORE` with `BYRADIUS`",
        }),
        handler: Some(georadius),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "georadius_ro",
        summary: "Finds the places around a point.",
        since: "3.2.10",
        group: Group::Geo,
        complexity: "O(N+log(M)) for N places in the square around the circle and M in the index.",
        arity: -6,
        flags: Flags::READONLY,
        acl: Acl::GEO,
        keys: KeySpec::READ,
        syntax: "key longitude:double latitude:double radius:double unit(M|KM|FT|MI) [WITHCOORD] \
            [WITHDIST] [WITHHASH] [count-block{COUNT count:int [ANY@6.2.0]}] [order(ASC|DESC)]",
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`GEOSEARCH` with `BYRADIUS`" }),
        handler: Some(georadius_ro),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "georadiusbymember",
        summary: "Finds the places around another place, and may store them.",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) for N places in the square around the circle and M in the index.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::MOVABLEKEYS),
        acl: Acl::GEO,
        keys: &[
            KeySpec::one(KeyFlags::RO_ACCESS),
            KeySpec::after("STORE", 5, KeyFlags::OW_UPDATE),
            KeySpec::after("STOREDIST", 5, KeyFlags::OW_UPDATE),
        ],
        syntax: "key member radius:double unit(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] \
            [count-block{COUNT count:int [ANY]}] [order(ASC|DESC)] \
            [store(STORE storekey:key\"key\"|STOREDIST storedistkey:key\"key\")]",
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` or `GEOSEARCHSTORE` with `FROMMEMBER` and `BYRADIUS`",
        }),
        handler: Some(georadiusbymember),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "georadiusbymember_ro",
        summary: "Finds the places around another place.",
        since: "3.2.10",
        group: Group::Geo,
        complexity: "O(N+log(M)) for N places in the square around the circle and M in the index.",
        arity: -5,
        flags: Flags::READONLY,
        acl: Acl::GEO,
        keys: KeySpec::READ,
        syntax: "key member radius:double unit(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] \
            [count-block{COUNT count:int [ANY]}] [order(ASC|DESC)]",
        deprecated: Some(Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` with `FROMMEMBER` and `BYRADIUS`",
        }),
        handler: Some(georadiusbymember_ro),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "geosearch",
        summary: "Finds the places inside a circle or a box.",
        since: "6.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) for N places in the grid cells around the shape and M inside it.",
        arity: -7,
        flags: Flags::READONLY,
        acl: Acl::GEO,
        keys: KeySpec::READ,
        syntax: "key from(FROMMEMBER member|FROMLONLAT fromlonlat{longitude:double latitude:double}) \
            by(circle{BYRADIUS radius:double unit(M|KM|FT|MI)}|\
            box{BYBOX width:double height:double unit(M|KM|FT|MI)}) [order(ASC|DESC)] \
            [count-block{COUNT count:int [ANY]}] [WITHCOORD] [WITHDIST] [WITHHASH]",
        handler: Some(geosearch),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "geosearchstore",
        summary: "Stores the places inside a circle or a box.",
        since: "6.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) for N places in the grid cells around the shape and M inside it.",
        arity: -8,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::GEO,
        keys: &[KeySpec::one(KeyFlags::OW_UPDATE), KeySpec::one(KeyFlags::RO_ACCESS).at(2)],
        syntax: "destination:key source:key from(FROMMEMBER member|FROMLONLAT \
            fromlonlat{longitude:double latitude:double}) \
            by(circle{BYRADIUS radius:double unit(M|KM|FT|MI)}|\
            box{BYBOX width:double height:double unit(M|KM|FT|MI)}) [order(ASC|DESC)] \
            [count-block{COUNT count:int [ANY]}] [STOREDIST]",
        handler: Some(geosearchstore),
        ..CommandSpec::DEFAULT
    },
];

/// Where a command has the centre and the outline of its search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// Longitude, latitude, radius and unit come first.
    Coordinates,
    /// A member, radius and unit come first.
    Member,
    /// Options say it.
    Options,
}

/// Whether a command stores its result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storing {
    Never,
    /// An option names the key.
    Option,
    /// Always.
    Always,
}

/// In what order results come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Any,
    Nearest,
    Farthest,
}

/// A parsed request.
struct Search<'a> {
    /// Without a centre if the source key is missing.
    center: Point,
    /// An outline and the metres of its unit.
    outline: Option<(Outline, f64)>,
    from_member: bool,
    from_point: bool,
    with_dist: bool,
    with_hash: bool,
    with_coord: bool,
    order: Order,
    /// Results at most.
    count: Option<usize>,
    /// Whether any results will do if `count` cuts them short, not only the nearest.
    any: bool,
    /// The key to store the result in.
    store: Option<&'a [u8]>,
    /// Whether the distances are stored as scores.
    store_dist: bool,
}

fn member_place(zset: &ZSet, member: &[u8]) -> Result<Point, CmdError> {
    zset.score(member).map(cells::place).ok_or(CmdError::GEO_NO_MEMBER)
}

/// Parses a radius and its unit.
fn circle(radius: &[u8], unit: &[u8]) -> Result<(Outline, f64), CmdError> {
    let radius = parse_f64(radius).ok_or(CmdError::GEO_RADIUS_NOT_FLOAT)?;
    if radius < 0.0 {
        return Err(CmdError::GEO_RADIUS_NEGATIVE);
    }
    Ok((Outline::Circle { radius }, unit_metres(unit)?))
}

/// Parses a width, a height and their unit.
fn rectangle(width: &[u8], height: &[u8], unit: &[u8]) -> Result<(Outline, f64), CmdError> {
    let width = parse_f64(width).ok_or(CmdError::GEO_WIDTH_NOT_FLOAT)?;
    let height = parse_f64(height).ok_or(CmdError::GEO_HEIGHT_NOT_FLOAT)?;
    if width < 0.0 || height < 0.0 {
        return Err(CmdError::GEO_BOX_NEGATIVE);
    }
    Ok((Outline::Box { width, height }, unit_metres(unit)?))
}

impl<'a> Search<'a> {
    /// Parses what follows the source key. `args` begins with the command's name, for its error texts.
    fn parse(
        args: &[&'a [u8]],
        source: Option<&ZSet>,
        around: Around,
        storing: Storing,
    ) -> Result<Search<'a>, CmdError> {
        let mut search = Search {
            center: Point::default(),
            outline: None,
            from_member: false,
            from_point: false,
            with_dist: false,
            with_hash: false,
            with_coord: false,
            order: Order::Any,
            count: None,
            any: false,
            store: (storing == Storing::Always).then(|| args[1]),
            store_dist: false,
        };
        let mut rest = match (around, source) {
            (Around::Coordinates, _) => {
                search.center = point(args[2], args[3])?;
                search.outline = Some(circle(args[4], args[5])?);
                &args[6..]
            }
            (Around::Member, None) => &args[5..],
            (Around::Member, Some(zset)) => {
                search.center = member_place(zset, args[2])?;
                search.outline = Some(circle(args[3], args[4])?);
                &args[5..]
            }
            (Around::Options, _) if storing == Storing::Always => &args[3..],
            (Around::Options, _) => &args[2..],
        };
        while let [word, more @ ..] = rest {
            let word = word.to_ascii_lowercase();
            let mut used = search.take_option(&word, more)?;
            if used.is_none() {
                used = search.take_store(&word, more, around, storing);
            }
            if used.is_none() && around == Around::Options {
                used = search.take_shape(&word, more, source)?;
            }
            rest = &more[used.ok_or(CmdError::SYNTAX)?..];
        }
        search.check(args[0], around)?;
        Ok(search)
    }

    /// Takes an option that all commands have. Says how many arguments it had, if it was one.
    fn take_option(&mut self, word: &[u8], more: &[&[u8]]) -> Result<Option<usize>, CmdError> {
        match (word, more) {
            (b"withdist", _) => self.with_dist = true,
            (b"withhash", _) => self.with_hash = true,
            (b"withcoord", _) => self.with_coord = true,
            (b"any", _) => self.any = true,
            (b"asc", _) => self.order = Order::Nearest,
            (b"desc", _) => self.order = Order::Farthest,
            (b"count", [count, ..]) => {
                let count = parse_i64(count).ok_or(CmdError::NOT_INTEGER)?;
                let count = usize::try_from(count).ok().filter(|&n| n > 0);
                self.count = Some(count.ok_or(CmdError::GEO_COUNT)?);
                return Ok(Some(1));
            }
            _ => return Ok(None),
        }
        Ok(Some(0))
    }

    /// Takes an option about storing.
    fn take_store(
        &mut self,
        word: &[u8],
        more: &[&'a [u8]],
        around: Around,
        storing: Storing,
    ) -> Option<usize> {
        match (word, more) {
            (b"store" | b"storedist", [key, ..])
                if around != Around::Options && storing == Storing::Option =>
            {
                self.store = Some(*key);
                self.store_dist = word == b"storedist";
                Some(1)
            }
            (b"storedist", _) if storing == Storing::Always => {
                self.store_dist = true;
                Some(0)
            }
            _ => None,
        }
    }

    /// Takes an option about the centre or the outline.
    fn take_shape(
        &mut self,
        word: &[u8],
        more: &[&[u8]],
        source: Option<&ZSet>,
    ) -> Result<Option<usize>, CmdError> {
        let is_box = matches!(self.outline, Some((Outline::Box { .. }, _)));
        let is_circle = matches!(self.outline, Some((Outline::Circle { .. }, _)));
        match (word, more) {
            (b"frommember", [member, ..]) if !self.from_point => {
                if let Some(zset) = source {
                    self.center = member_place(zset, member)?;
                }
                self.from_member = true;
                Ok(Some(1))
            }
            (b"fromlonlat", [lon, lat, ..]) if !self.from_member => {
                self.center = point(lon, lat)?;
                self.from_point = true;
                Ok(Some(2))
            }
            (b"byradius", [radius, unit, ..]) if !is_box => {
                self.outline = Some(circle(radius, unit)?);
                Ok(Some(2))
            }
            (b"bybox", [width, height, unit, ..]) if !is_circle => {
                self.outline = Some(rectangle(width, height, unit)?);
                Ok(Some(3))
            }
            _ => Ok(None),
        }
    }

    /// Checks that the options go together. `command` is the name as the client wrote it.
    fn check(&self, command: &[u8], around: Around) -> Result<(), CmdError> {
        if self.store.is_some() && (self.with_dist || self.with_hash || self.with_coord) {
            return Err(match around {
                Around::Options => CmdError::GEOSEARCHSTORE_WITH,
                _ => CmdError::GEORADIUS_STORE_WITH,
            });
        }
        if around == Around::Options && !(self.from_member || self.from_point) {
            return Err(CmdError::geo_needs_center(command));
        }
        if around == Around::Options && self.outline.is_none() {
            return Err(CmdError::geo_needs_outline(command));
        }
        if self.any && self.count.is_none() {
            return Err(CmdError::GEO_ANY_COUNT);
        }
        Ok(())
    }

    /// The results, ordered and cut short as asked.
    fn run<'z>(&self, zset: &'z ZSet) -> Vec<Hit<'z>> {
        let Some((outline, unit)) = self.outline else {
            return Vec::new();
        };
        let shape = Shape { center: self.center, outline, unit };
        let limit = self.count.unwrap_or(usize::MAX);
        let mut hits = find(zset, &shape, if self.any { limit } else { usize::MAX });
        let order = match self.order {
            // The nearest ones, unless any will do.
            Order::Any if self.count.is_some() && !self.any => Order::Nearest,
            order => order,
        };
        if order != Order::Any {
            if limit < hits.len() {
                hits.select_nth_unstable_by(limit, |a, b| a.compare(b, order));
                hits.truncate(limit);
            }
            hits.sort_unstable_by(|a, b| a.compare(b, order));
        }
        hits.truncate(limit);
        hits
    }
}

/// A place inside the shape.
struct Hit<'z> {
    member: Item<'z>,
    score: f64,
    place: Point,
    /// From the centre, in the unit of the search.
    distance: f64,
    /// How many were found before it.
    found: usize,
}

impl Hit<'_> {
    /// By distance, and in the order of the search where that is the same.
    fn compare(&self, other: &Hit<'_>, order: Order) -> Ordering {
        let by_distance = match order {
            Order::Farthest => other.distance.total_cmp(&self.distance),
            _ => self.distance.total_cmp(&other.distance),
        };
        by_distance.then_with(|| self.found.cmp(&other.found))
    }
}

/// Up to `limit` places inside a shape, unordered.
fn find<'z>(zset: &'z ZSet, shape: &Shape, limit: usize) -> Vec<Hit<'z>> {
    let mut hits = Vec::new();
    for cell in shape.cells() {
        let (min, max) = cell.scores();
        let range = ScoreRange {
            min: ScoreBound { value: min, exclusive: false },
            max: ScoreBound { value: max, exclusive: true },
        };
        for (member, score) in zset.range_by_score(&range, false, 0, usize::MAX) {
            let place = cells::place(score);
            if let Some(metres) = shape.distance_to(place) {
                let found = hits.len();
                hits.push(Hit { member, score, place, distance: metres / shape.unit, found });
                if hits.len() >= limit {
                    return hits;
                }
            }
        }
    }
    hits
}

fn put_hits(out: &mut Reply, hits: &[Hit<'_>], search: &Search<'_>) {
    let extras =
        usize::from(search.with_dist) + usize::from(search.with_hash) + usize::from(search.with_coord);
    out.array(hits.len());
    for hit in hits {
        if extras > 0 {
            out.array(1 + extras);
        }
        zsets::put_member(out, hit.member);
        if search.with_dist {
            put_distance(out, hit.distance);
        }
        if search.with_hash {
            out.int(hit.score as i64);
        }
        if search.with_coord {
            put_point(out, hit.place);
        }
    }
}

fn run(ctx: &mut Ctx, around: Around, storing: Storing) -> CmdResult {
    let (db, limits, seed) = (ctx.db(), ctx.zset_limits(), ctx.ks.seed());
    let source_key = ctx.args[if storing == Storing::Always { 2 } else { 1 }];
    let source = zsets::read(ctx.ks, db, source_key)?;
    let search = Search::parse(ctx.args, source, around, storing)?;
    let hits = source.map_or_else(Vec::new, |zset| search.run(zset));
    let Some(key) = search.store else {
        put_hits(&mut ctx.out, &hits, &search);
        return Ok(Outcome::Done);
    };
    let longest = hits.iter().map(|hit| hit.member.text_len()).max().unwrap_or(0);
    let mut result = ZSet::for_members(hits.len(), longest, &limits, seed);
    for hit in &hits {
        let score = if search.store_dist { hit.distance } else { hit.score };
        result.set(hit.member.bytes(&mut itoa::Buffer::new()), score, &limits);
    }
    let event = if around == Around::Options { "geosearchstore" } else { "georadiusstore" };
    let dirty = hits.len() as u64;
    zsets::store(ctx, key, result, event, dirty)
}

fn geosearch(ctx: &mut Ctx) -> CmdResult {
    run(ctx, Around::Options, Storing::Never)
}

fn geosearchstore(ctx: &mut Ctx) -> CmdResult {
    run(ctx, Around::Options, Storing::Always)
}

fn georadius(ctx: &mut Ctx) -> CmdResult {
    run(ctx, Around::Coordinates, Storing::Option)
}

fn georadius_ro(ctx: &mut Ctx) -> CmdResult {
    run(ctx, Around::Coordinates, Storing::Never)
}

fn georadiusbymember(ctx: &mut Ctx) -> CmdResult {
    run(ctx, Around::Member, Storing::Option)
}

fn georadiusbymember_ro(ctx: &mut Ctx) -> CmdResult {
    run(ctx, Around::Member, Storing::Never)
}
