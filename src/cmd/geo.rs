//! GEOADD, GEOPOS, GEODIST, GEOHASH: places, kept as scores of a sorted set. Touches db, types, proto and base.
//!
//! `cells` has the geometry, `search` the commands that look for places around a point. What they share is here.

use super::ctx::{CmdResult, Ctx, DataFn, Outcome};
use super::spec::{Acl, CommandSpec, Flags, Group, KeySpec};
use super::zsets;
use super::zsets::write::AddOptions;
use crate::base::error::CmdError;
use crate::base::num::parse_f64;
use crate::proto::reply::Reply;
use cells::Point;

mod cells;
pub mod search;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "geoadd",
        summary: "Adds places to a geospatial index or moves them.",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(log(N)) a place, N being the size of the index.",
        arity: -5,
        flags: Flags::WRITE.or(Flags::DENYOOM),
        acl: Acl::GEO,
        keys: KeySpec::UPDATE,
        syntax: "key [condition(NX|XX)@6.2.0] [change=CH@6.2.0] \
            data{longitude:double latitude:double member}...",
        handler: Some(geoadd),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "geodist",
        summary: "Tells the distance between two places.",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(1)",
        arity: -4,
        flags: Flags::READONLY,
        acl: Acl::GEO,
        keys: KeySpec::READ,
        syntax: "key member1 member2 [unit(M|KM|FT|MI)]",
        handler: Some(geodist),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "geohash",
        summary: "Returns the geohash strings of places.",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(1) for each place.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::GEO,
        keys: KeySpec::READ,
        syntax: "key [member...]",
        handler: Some(geohash),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "geopos",
        summary: "Returns the longitudes and latitudes of places.",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(1) for each place.",
        arity: -2,
        flags: Flags::READONLY,
        acl: Acl::GEO,
        keys: KeySpec::READ,
        syntax: "key [member...]",
        handler: Some(geopos),
        ..CommandSpec::DEFAULT
    },
];

/// Parses a longitude and a latitude.
fn point(lon: &[u8], lat: &[u8]) -> Result<Point, CmdError> {
    let degrees = |text: &[u8]| parse_f64(text).ok_or(CmdError::NOT_FLOAT);
    let point = Point { lon: degrees(lon)?, lat: degrees(lat)? };
    if !cells::LONGITUDES.contains(point.lon) || !cells::LATITUDES.contains(point.lat) {
        return Err(CmdError::invalid_coordinates(point.lon, point.lat));
    }
    Ok(point)
}

/// How many metres a unit has.
fn unit_metres(word: &[u8]) -> Result<f64, CmdError> {
    match word.to_ascii_lowercase().as_slice() {
        b"m" => Ok(1.0),
        b"km" => Ok(1000.0),
        b"ft" => Ok(0.3048),
        b"mi" => Ok(1609.34),
        _ => Err(CmdError::GEO_UNIT),
    }
}

/// Writes a distance with four decimals: a string in RESP3 too.
fn put_distance(out: &mut Reply, distance: f64) {
    let scaled = (distance * 10_000.0).round_ties_even() as i64;
    out.bulk(format!("{}.{:04}", scaled / 10_000, scaled % 10_000).as_bytes());
}

/// Writes a place as a pair of numbers, with up to 17 decimals.
fn put_point(out: &mut Reply, point: Point) {
    out.array(2);
    for degrees in [point.lon, point.lat] {
        let exact = format!("{degrees:.17}");
        let text = match exact.trim_end_matches('0').trim_end_matches('.') {
            "-0" => "0",
            text => text,
        };
        if out.resp3() {
            out.sink().put(format!(",{text}\r\n").as_bytes());
        } else {
            out.bulk(text.as_bytes());
        }
    }
}

fn geoadd(ctx: &mut Ctx) -> CmdResult {
    let mut options = AddOptions::default();
    let mut places = &ctx.args[2..];
    while let [word, more @ ..] = places {
        match word.to_ascii_lowercase().as_slice() {
            b"nx" => options.nx = true,
            b"xx" => options.xx = true,
            b"ch" => options.ch = true,
            _ => break,
        }
        places = more;
    }
    if places.is_empty() || !places.len().is_multiple_of(3) || options.nx && options.xx {
        return Err(CmdError::SYNTAX);
    }
    let mut scored = Vec::with_capacity(places.len() / 3);
    for place in places.chunks_exact(3) {
        scored.push((cells::score(point(place[0], place[1])?), place[2]));
    }
    zsets::write::add(ctx, options, scored.iter().copied())
}

fn geopos(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let zset = zsets::read(ctx.ks, db, ctx.args[1])?;
    ctx.out.array(ctx.args.len() - 2);
    for member in &ctx.args[2..] {
        match zset.and_then(|zset| zset.score(member)) {
            Some(score) => put_point(&mut ctx.out, cells::place(score)),
            None => ctx.out.null_array(),
        }
    }
    Ok(Outcome::Done)
}

fn geohash(ctx: &mut Ctx) -> CmdResult {
    let db = ctx.db();
    let zset = zsets::read(ctx.ks, db, ctx.args[1])?;
    ctx.out.array(ctx.args.len() - 2);
    for member in &ctx.args[2..] {
        match zset.and_then(|zset| zset.score(member)) {
            Some(score) => ctx.out.bulk(&cells::geohash(cells::place(score))),
            None => ctx.out.null(),
        }
    }
    Ok(Outcome::Done)
}

fn geodist(ctx: &mut Ctx) -> CmdResult {
    let unit = match ctx.args.len() {
        4 => 1.0,
        5 => unit_metres(ctx.args[4])?,
        _ => return Err(CmdError::SYNTAX),
    };
    let db = ctx.db();
    let zset = zsets::read(ctx.ks, db, ctx.args[1])?;
    let place = |member| zset.and_then(|zset| zset.score(member)).map(cells::place);
    match (place(ctx.args[2]), place(ctx.args[3])) {
        (Some(a), Some(b)) => put_distance(&mut ctx.out, cells::distance(a, b) / unit),
        _ => ctx.out.null(),
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests;
