//! Tests of the GEO commands: replies as a Redis 7 server gives them, and searches against a look at every place.

use rand::{Rng, SeedableRng};

use super::cells::{self, Point};
use crate::base::Rand;
use crate::cmd::testing::Space;

fn sicily() -> Space {
    let mut space = Space::new();
    space.script("GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania => :2");
    space
}

#[test]
fn places() {
    let mut space = sicily();
    space.script(
        "
        GEOPOS g Palermo none => *2 *2 $20 13.36138933897018433 $20 38.11555639549629859 *-1
        GEOPOS none a => *1 *-1
        GEOPOS g => *0
        GEOHASH g Palermo none Catania => *3 $11 sqc8b49rny0 $-1 $11 sqdtr74hyu0
        GEODIST g Palermo Catania => $11 166274.1516
        GEODIST g Palermo Catania km => $8 166.2742
        GEODIST g Palermo Palermo => $6 0.0000
        GEODIST g Palermo none => $-1
        GEODIST none a b => $-1
        GEODIST g Palermo Catania yd => -ERR unsupported unit provided. please use M, KM, FT, MI
        GEODIST g Palermo Catania m m => -ERR syntax error
        GEOADD g XX CH 13.5 38 Palermo 1 1 other => :1
        GEOADD g NX 13.5 39 Palermo => :0
        GEOADD g NX XX 1 1 a => -ERR syntax error
        GEOADD g 1 1 a 2 => -ERR syntax error
        GEOADD g 181 1 a => -ERR invalid longitude,latitude pair 181.000000,1.000000
        GEOADD g x 1 a => -ERR value is not a valid float
        ZADD odd inf a -inf b -1 c 1e19 d => :4
        GEOPOS odd a b => *2 *2 $22 -179.99999731779098511 $21 -85.05112751263942528 *2 $3 180 $21 -85.05112751263942528
        GEOPOS odd c d => *2 *2 $3 180 $19 85.0511287799999991 *2 $3 180 $19 85.0511287799999991
        SET s x => +OK
        GEOPOS s a => -WRONGTYPE Operation against a key holding the wrong kind of value
        ",
    );
    space.resp3(true);
    space.script("GEOPOS g Catania => *1 *2 ,15.08726745843887329 ,37.50266842333162032");
}

#[test]
fn searches() {
    let mut space = sicily();
    space.script(
        "
        GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC => *2 $7 Catania $7 Palermo
        GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km DESC COUNT 1 => *1 $7 Palermo
        GEOSEARCH g FROMMEMBER Palermo BYBOX 400 400 km ASC => *2 $7 Palermo $7 Catania
        GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 100 km WITHDIST WITHHASH => *1 *3 $7 Catania $7 56.4413 :3479447370796909
        GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km COUNT 1 ANY => *1 $7 Palermo
        GEOSEARCH none FROMMEMBER x BYRADIUS 1 m => *0
        GEORADIUS g 15 37 200 km ASC WITHDIST => *2 *2 $7 Catania $7 56.4413 *2 $7 Palermo $8 190.4424
        GEORADIUSBYMEMBER_RO g Catania 1 m => *1 $7 Catania
        GEORADIUSBYMEMBER g Palermo 200 km STOREDIST d => :2
        ZRANGE d 0 -1 WITHSCORES => *4 $7 Palermo $1 0 $7 Catania $18 166.27415156960032
        GEOSEARCHSTORE d g FROMMEMBER Palermo BYRADIUS 1 km => :1
        ZSCORE d Palermo => $16 3479099956230698
        GEORADIUS none 15 37 200 km STORE d => :0
        ZCARD d => :0
        ",
    );
    assert_eq!(
        space.line("GEOSEARCH g FROMMEMBER Catania BYRADIUS 1 m WITHCOORD").matches("$20\r\n").count(),
        2
    );
}

#[test]
fn search_errors() {
    let mut space = sicily();
    space.script(
        "
        GEOSEARCH g FROMMEMBER x BYRADIUS 1 m => -ERR could not decode requested zset member
        GEOSEARCH g BYRADIUS 1 m ASC ASC => -ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCH
        GeoSearch g FROMLONLAT 1 1 ASC DESC => -ERR exactly one of BYRADIUS and BYBOX can be specified for GeoSearch
        GEOSEARCH g FROMLONLAT 1 1 FROMMEMBER Palermo BYRADIUS 1 m => -ERR syntax error
        GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m BYBOX 1 1 m => -ERR syntax error
        GEOSEARCH g FROMLONLAT 1 1 BYRADIUS x m => -ERR need numeric radius
        GEOSEARCH g FROMLONLAT 1 1 BYRADIUS -1 m => -ERR radius cannot be negative
        GEOSEARCH g FROMLONLAT 1 1 BYBOX x 1 m => -ERR need numeric width
        GEOSEARCH g FROMLONLAT 1 1 BYBOX 1 x m => -ERR need numeric height
        GEOSEARCH g FROMLONLAT 1 1 BYBOX 1 -1 m => -ERR height or width cannot be negative
        GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m COUNT 0 => -ERR COUNT must be > 0
        GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m ANY => -ERR the ANY argument requires COUNT argument
        GEOSEARCH g FROMLONLAT 1 1 BYRADIUS 1 m STOREDIST => -ERR syntax error
        GEORADIUS_RO g 1 1 1 m STORE d => -ERR syntax error
        GEORADIUS g 1 1 1 m STORE d WITHDIST => -ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options
        GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 1 m WITHDIST => -ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options
        ",
    );
}

#[test]
fn events_and_dirty_counts() {
    let mut space = sicily();
    assert_eq!(space.events(), ["new g", "zadd g"]);
    for (line, dirty, events) in [
        ("GEOSEARCHSTORE d g FROMLONLAT 15 37 BYRADIUS 200 km", 2, &["new d", "geosearchstore d"][..]),
        ("GEORADIUS g 15 37 100 km STORE d", 1, &["georadiusstore d"]),
        ("GEORADIUS g 1 1 1 m STORE d", 1, &["del d"]),
        ("GEORADIUS g 1 1 1 m STORE d", 0, &[]),
    ] {
        let before = space.dirty();
        space.line(line);
        assert_eq!(space.dirty() - before, dirty, "{line}");
        assert_eq!(space.events(), events, "{line}");
    }
}

/// Every place inside a circle is found, nearest first.
#[test]
fn random_searches_match_a_look_at_every_place() {
    for seed in 0..40 {
        let mut rng = Rand::seed_from_u64(seed);
        let mut space = Space::new();
        let mut places = Vec::new();
        for number in 0..rng.random_range(1..300) {
            let (lon, lat) = (rng.random_range(-60.0..60.0), rng.random_range(-50.0..50.0));
            space.line(&format!("GEOADD g {lon} {lat} p{number}"));
            places.push((format!("p{number}"), cells::place(cells::score(Point { lon, lat }))));
        }
        for _ in 0..20 {
            let center = Point { lon: rng.random_range(-60.0..60.0), lat: rng.random_range(-50.0..50.0) };
            let radius = 10f64.powf(rng.random_range(3.0..6.4));
            let mut want: Vec<(f64, &str)> = places
                .iter()
                .map(|(name, place)| (cells::distance(center, *place), name.as_str()))
                .filter(|(distance, _)| *distance <= radius)
                .collect();
            want.sort_by(|a, b| a.0.total_cmp(&b.0));
            let Point { lon, lat } = center;
            let command = format!("GEOSEARCH g FROMLONLAT {lon} {lat} BYRADIUS {radius} m ASC");
            let reply = space.line(&command);
            let got: Vec<&str> = reply.split("\r\n").filter(|word| word.starts_with('p')).collect();
            assert_eq!(got, want.iter().map(|(_, name)| *name).collect::<Vec<_>>(), "seed {seed}: {command}");
        }
    }
}

/// Without a wish for order, and among places at the same distance, that of the cells: the middle one, those north, south,
/// east and west of it, then the corners; inside a cell by score.
#[test]
fn places_come_in_the_order_of_the_search() {
    let mut space = Space::new();
    space.script(
        "GEOADD g 0.1 0.1 z 0.1 0.1 a -0.1 -0.1 sw 0.1 -0.1 se -0.1 0.1 nw => :5
         GEORADIUS g 0.1 0.1 100 km => *5 $1 a $1 z $2 se $2 nw $2 sw
         GEORADIUS g 0.1 0.1 1 km ASC => *2 $1 a $1 z
         GEORADIUS g 0.1 0.1 1 km DESC => *2 $1 a $1 z",
    );
}
