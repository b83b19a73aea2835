//! The classes of keyspace events as bits, and the letters that stand for them in `notify-keyspace-events`. Touches
//! nothing.

/// `K`: publish on `__keyspace@<db>__:<key>`.
pub const KEYSPACE: u32 = 1 << 0;
/// `E`: publish on `__keyevent@<db>__:<event>`.
pub const KEYEVENT: u32 = 1 << 1;
/// `g`: commands on keys of any type, such as DEL or EXPIRE.
pub const GENERIC: u32 = 1 << 2;
/// `$`: commands on strings.
pub const STRING: u32 = 1 << 3;
/// `l`: commands on lists.
pub const LIST: u32 = 1 << 4;
/// `s`: commands on sets.
pub const SET: u32 = 1 << 5;
/// `h`: commands on hashes.
pub const HASH: u32 = 1 << 6;
/// `z`: commands on sorted sets.
pub const ZSET: u32 = 1 << 7;
/// `x`: a key ran out of time.
pub const EXPIRED: u32 = 1 << 8;
/// `e`: a key had to go because memory was short.
pub const EVICTED: u32 = 1 << 9;
/// `t`: commands on streams.
pub const STREAM: u32 = 1 << 10;
/// `m`: a key was asked for that is not there. Not part of `A`.
pub const KEY_MISS: u32 = 1 << 11;
/// `d`: events of modules.
pub const MODULE: u32 = 1 << 13;
/// `n`: a key came into being. Not part of `A`.
pub const NEW: u32 = 1 << 14;
/// `A`: every class but `m` and `n`.
pub const ALL: u32 = GENERIC | STRING | LIST | SET | HASH | ZSET | EXPIRED | EVICTED | STREAM | MODULE;

/// Letters that `A` swallows when all of `ALL` is on, in the order of printing. `n` is swallowed as well, as in Redis.
const CLASSES: [(u8, u32); 11] = [
    (b'g', GENERIC),
    (b'$', STRING),
    (b'l', LIST),
    (b's', SET),
    (b'h', HASH),
    (b'z', ZSET),
    (b'x', EXPIRED),
    (b'e', EVICTED),
    (b't', STREAM),
    (b'd', MODULE),
    (b'n', NEW),
];

/// Letters that are always printed, behind the classes.
const REST: [(u8, u32); 3] = [(b'K', KEYSPACE), (b'E', KEYEVENT), (b'm', KEY_MISS)];

/// The bits for a string of letters in any order, or `None` if one of them means nothing.
pub fn parse(letters: &[u8]) -> Option<u32> {
    let mut events = 0;
    for letter in letters {
        let known = CLASSES.iter().chain(&REST).chain(&[(b'A', ALL)]).find(|(known, _)| known == letter)?;
        events |= known.1;
    }
    Some(events)
}

/// The letters for a set of bits, in Redis's order.
pub fn letters(events: u32) -> String {
    let mut text = String::new();
    if events & ALL == ALL {
        text.push('A');
    } else {
        push_letters(&mut text, &CLASSES, events);
    }
    push_letters(&mut text, &REST, events);
    text
}

fn push_letters(text: &mut String, classes: &[(u8, u32)], events: u32) {
    text.extend(
        classes.iter().filter(|(_, class)| events & class != 0).map(|(letter, _)| char::from(*letter)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_as_redis_prints_them() {
        // Recorded from redis-server 7.0.15.
        for (given, printed) in [
            ("", ""),
            ("KEA", "AKE"),
            ("g$lshzxeKEtmdn", "AKEm"),
            ("KEg$", "g$KE"),
            ("AKEn", "AKE"),
            ("dtmK", "tdKm"),
        ] {
            assert_eq!(letters(parse(given.as_bytes()).expect("letters")), printed, "{given}");
        }
        assert_eq!(parse(b"KQ"), None);
        assert_eq!(parse(b"k"), None);
    }

    #[test]
    fn every_set_of_bits_reads_back() {
        for bits in 0u32..1 << 15 {
            let events = bits & (ALL | NEW | KEYSPACE | KEYEVENT | KEY_MISS);
            let again = parse(letters(events).as_bytes()).expect("own letters");
            let lost = events & !again;
            assert!(lost == 0 || (lost == NEW && events & ALL == ALL), "{events:b} became {again:b}");
            assert_eq!(again & !events, 0);
        }
    }
}
