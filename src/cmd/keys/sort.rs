//! SORT and SORT_RO: the elements of a list, set or sorted set in order, or what keys named after them hold.
//! Touches db, types and base.
//!
//! The elements are copied out first, their texts one after another in one buffer: looking other keys up may expire
//! keys, the sorted one included. Then each gets its weight (a number, or with ALPHA a text), the rows are sorted as far
//! as LIMIT wants them, and the GET patterns are looked up while the reply is written.

use std::cmp::Ordering;
use std::ops::{ControlFlow, Range};

use crate::base::error::CmdError;
use crate::base::num::parse_f64;
use crate::base::session::SessionFlags;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};
use crate::db::keyspace::{EventClass, Keyspace};
use crate::db::value::{Value, ValueRef};
use crate::types::Item;
use crate::types::list::List;

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[
    CommandSpec {
        name: "sort",
        summary: "Sorts the elements of a list, set or sorted set, and may store them.",
        since: "1.0.0",
        group: Group::Generic,
        complexity: "O(N+M*log(M)) for N elements of which M are returned; O(N) without sorting.",
        arity: -2,
        flags: Flags::WRITE.or(Flags::DENYOOM).or(Flags::MOVABLEKEYS),
        acl: Acl::SET.or(Acl::SORTEDSET).or(Acl::LIST).or(Acl::DANGEROUS),
        keys: &[
            KeySpec::one(KeyFlags::RO_ACCESS),
            KeySpec::unknown(KeyFlags::RO_ACCESS)
                .notes("BY and GET: the names depend on the elements of the sorted key."),
            KeySpec::unknown(KeyFlags::OW_UPDATE).notes("STORE: can stand anywhere among the options."),
        ],
        syntax: "key [BY by-pattern:pattern#1\"pattern\"] [LIMIT limit{offset:int count:int}] \
            [GET... get-pattern:pattern#1\"pattern\"] [order(ASC|DESC)] [sorting=ALPHA] \
            [STORE destination:key#2]",
        handler: Some(sort),
        ..CommandSpec::DEFAULT
    },
    CommandSpec {
        name: "sort_ro",
        summary: "Sorts the elements of a list, set or sorted set without storing them.",
        since: "7.0.0",
        group: Group::Generic,
        complexity: "O(N+M*log(M)) for N elements of which M are returned; O(N) without sorting.",
        arity: -2,
        flags: Flags::READONLY.or(Flags::MOVABLEKEYS),
        acl: Acl::SET.or(Acl::SORTEDSET).or(Acl::LIST).or(Acl::DANGEROUS),
        keys: &[
            KeySpec::one(KeyFlags::RO_ACCESS),
            KeySpec::unknown(KeyFlags::RO_ACCESS)
                .notes("BY and GET: the names depend on the elements of the sorted key."),
        ],
        syntax: "key [BY by-pattern:pattern#1\"pattern\"] [LIMIT limit{offset:int count:int}] \
            [GET... get-pattern:pattern#1\"pattern\"] [order(ASC|DESC)] [sorting=ALPHA]",
        handler: Some(sort_ro),
        ..CommandSpec::DEFAULT
    },
];

/// What BY or GET looks up for an element.
enum Pattern<'a> {
    /// `#`: the element itself.
    Element,
    /// Without `*` it names no key.
    Nothing,
    /// The element takes the place of the first `*`. With `->` behind it, a field of a hash is meant.
    Key { prefix: &'a [u8], suffix: &'a [u8], field: Option<&'a [u8]> },
}

impl<'a> Pattern<'a> {
    fn parse(text: &'a [u8]) -> Pattern<'a> {
        if text == b"#" {
            return Pattern::Element;
        }
        let Some(star) = memchr::memchr(b'*', text) else { return Pattern::Nothing };
        let (prefix, rest) = (&text[..star], &text[star + 1..]);
        let arrow = rest.windows(2).position(|pair| pair == b"->");
        // An arrow at the very end is part of the key.
        match arrow.filter(|&at| at + 2 < rest.len()) {
            Some(at) => Pattern::Key { prefix, suffix: &rest[..at], field: Some(&rest[at + 2..]) },
            None => Pattern::Key { prefix, suffix: rest, field: None },
        }
    }

    /// Hands what is found to `take`; `None` if there is no such key or field, or it is no string. `name` is scratch.
    fn look_up<R>(
        &self,
        ks: &mut Keyspace,
        db: usize,
        element: &[u8],
        name: &mut Vec<u8>,
        take: impl FnOnce(Item<'_>) -> R,
    ) -> Option<R> {
        let (prefix, suffix, field) = match *self {
            Pattern::Element => return Some(take(Item::Str(element))),
            Pattern::Nothing => return None,
            Pattern::Key { prefix, suffix, field } => (prefix, suffix, field),
        };
        name.clear();
        for part in [prefix, element, suffix] {
            name.extend_from_slice(part);
        }
        match (ks.read(db, name)?.value(), field) {
            (ValueRef::Int(n), None) => Some(take(Item::Int(n))),
            (ValueRef::Str(bytes), None) => Some(take(Item::Str(bytes))),
            (ValueRef::Hash(hash), Some(field)) => hash.get(field).map(take),
            _ => None,
        }
    }
}

struct Options<'a> {
    descending: bool,
    /// Weights are texts.
    alpha: bool,
    /// A BY pattern without `*`: leave the elements in their own order.
    unsorted: bool,
    by: Option<Pattern<'a>>,
    gets: Vec<Pattern<'a>>,
    offset: i64,
    /// Negative: all.
    count: i64,
    store: Option<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(ctx: &Ctx<'a>, may_store: bool) -> Result<Options<'a>, CmdError> {
        let mut options = Options {
            descending: false,
            alpha: false,
            unsorted: false,
            by: None,
            gets: Vec::new(),
            offset: 0,
            count: -1,
            store: None,
        };
        let reads_some_keys = ctx.session.flags.any(SessionFlags::READS_SOME_KEYS);
        let mut at = 2;
        while at < ctx.args.len() {
            let values = ctx.args.len() - at - 1;
            if ctx.is_word(at, "asc") {
                options.descending = false;
            } else if ctx.is_word(at, "desc") {
                options.descending = true;
            } else if ctx.is_word(at, "alpha") {
                options.alpha = true;
            } else if ctx.is_word(at, "limit") && values >= 2 {
                (options.offset, options.count) = (ctx.int(at + 1)?, ctx.int(at + 2)?);
                at += 2;
            } else if may_store && ctx.is_word(at, "store") && values >= 1 {
                at += 1;
                options.store = Some(ctx.args[at]);
            } else if ctx.is_word(at, "by") && values >= 1 {
                at += 1;
                options.unsorted |= !ctx.args[at].contains(&b'*');
                if reads_some_keys && ctx.args[at].contains(&b'*') {
                    return Err(CmdError::SORT_BY_DENIED);
                }
                options.by = Some(Pattern::parse(ctx.args[at]));
            } else if ctx.is_word(at, "get") && values >= 1 {
                at += 1;
                if reads_some_keys {
                    return Err(CmdError::SORT_GET_DENIED);
                }
                options.gets.push(Pattern::parse(ctx.args[at]));
            } else {
                return Err(CmdError::SYNTAX);
            }
            at += 1;
        }
        Ok(options)
    }

    /// The part of `len` elements that LIMIT asks for.
    fn wanted(&self, len: usize) -> Range<usize> {
        let start = self.offset.clamp(0, len as i64) as usize;
        let count = if self.count < 0 { len } else { self.count.min(len as i64) as usize };
        start..(start + count).min(len)
    }
}

#[derive(Clone, Copy)]
struct Span {
    start: usize,
    len: usize,
}

#[derive(Clone, Copy)]
enum Weight {
    Number(f64),
    Text(Span),
    /// ALPHA and BY found nothing; such elements come first.
    Missing,
}

struct Row {
    element: Span,
    weight: Weight,
}

/// The elements, and the part of them that is the answer.
struct Rows {
    text: Vec<u8>,
    rows: Vec<Row>,
    wanted: Range<usize>,
}

impl Rows {
    fn keep(&mut self, item: Item) -> Span {
        let start = self.text.len();
        self.text.extend_from_slice(item.bytes(&mut itoa::Buffer::new()));
        Span { start, len: self.text.len() - start }
    }

    fn add(&mut self, item: Item) {
        let element = self.keep(item);
        self.rows.push(Row { element, weight: Weight::Text(element) });
    }

    fn bytes(&self, span: Span) -> &[u8] {
        &self.text[span.start..span.start + span.len]
    }

    /// Copies the elements out. Unsorted lists and sorted sets give just the wanted ones, in the direction asked for.
    fn load(ctx: &mut Ctx, options: &mut Options) -> Result<Rows, CmdError> {
        let (key, stores) = (ctx.args[1], options.store.is_some());
        let mut rows = Rows { text: Vec::new(), rows: Vec::new(), wanted: 0..0 };
        let Some(value) = ctx.read(key) else { return Ok(rows) };
        let wanted = options.wanted(value.len());
        let (start, count, reverse) = if options.unsorted {
            (wanted.start, wanted.len(), options.descending)
        } else {
            (0, value.len(), false)
        };
        match value {
            ValueRef::List(list) => {
                let first = if reverse { list.len().saturating_sub(1 + start) } else { start };
                list.walk_items(first, count, reverse, |item| {
                    rows.add(item);
                    ControlFlow::Continue(())
                });
            }
            ValueRef::ZSet(zset) => {
                zset.range_by_rank(start, count, reverse).for_each(|(item, _)| rows.add(item));
            }
            ValueRef::Set(set) => set.iter().for_each(|item| rows.add(item)),
            _ => return Err(CmdError::WRONG_TYPE),
        }
        let is_set = matches!(value, ValueRef::Set(_));
        let is_small_zset = matches!(value, ValueRef::ZSet(zset) if zset.listpack().is_some());
        rows.wanted = if options.unsorted && !is_set { 0..rows.rows.len() } else { wanted };
        if options.unsorted && is_set && stores {
            // What is stored must not depend on the order inside the set: a replica's may differ.
            (options.unsorted, options.alpha, options.by) = (false, true, None);
        }
        if is_small_zset {
            // Redis sorts these in the other encoding only, and leaves the set so.
            let db = ctx.db();
            if let Some(entry) = ctx.ks.write_again(db, key) {
                entry.zset()?.make_skiplist();
            }
        }
        Ok(rows)
    }

    fn weigh(&mut self, ctx: &mut Ctx, options: &Options) -> Result<(), CmdError> {
        if options.alpha && options.by.is_none() {
            return Ok(());
        }
        let db = ctx.db();
        let (mut element, mut name) = (Vec::new(), Vec::new());
        for at in 0..self.rows.len() {
            let span = self.rows[at].element;
            let Some(by) = &options.by else {
                self.rows[at].weight = Weight::Number(number(self.bytes(span))?);
                continue;
            };
            element.clear();
            element.extend_from_slice(self.bytes(span));
            let found = by.look_up(ctx.ks, db, &element, &mut name, |item| match item {
                _ if options.alpha => Ok(Weight::Text(self.keep(item))),
                Item::Int(n) => Ok(Weight::Number(n as f64)),
                Item::Str(text) => number(text).map(Weight::Number),
            });
            let missing = if options.alpha { Weight::Missing } else { Weight::Number(0.0) };
            self.rows[at].weight = found.transpose()?.unwrap_or(missing);
        }
        Ok(())
    }

    /// Sorts as far as the wanted rows reach. Equal numbers go by the elements, so that the result is always the same.
    /// What is only replied is compared like C strings, as `strcoll` does it: up to a zero byte. Equal texts stay in order.
    fn sort(&mut self, descending: bool, stores: bool) {
        let mut rows = std::mem::take(&mut self.rows);
        let text = |span: Span| self.bytes(span);
        let collated = |span: Span| {
            let text = self.bytes(span);
            let end = if stores { None } else { memchr::memchr(0, text) };
            end.map_or(text, |end| &text[..end])
        };
        let compare = |a: &Row, b: &Row| {
            let order = match (a.weight, b.weight) {
                (Weight::Number(x), Weight::Number(y)) => x
                    .partial_cmp(&y)
                    .unwrap_or(Ordering::Equal)
                    .then_with(|| text(a.element).cmp(text(b.element))),
                (Weight::Text(x), Weight::Text(y)) => collated(x).cmp(collated(y)),
                (Weight::Missing, Weight::Missing) => Ordering::Equal,
                (Weight::Missing, _) => Ordering::Less,
                (_, Weight::Missing) => Ordering::Greater,
                _ => Ordering::Equal,
            };
            let order = if descending { order.reverse() } else { order };
            // The texts of the elements stand in their order.
            order.then_with(|| a.element.start.cmp(&b.element.start))
        };
        let end = self.wanted.end;
        if end < rows.len() && end > 0 {
            rows.select_nth_unstable_by(end - 1, compare);
            rows[..end].sort_by(compare);
        } else {
            rows.sort_by(compare);
        }
        self.rows = rows;
    }

    /// Hands over, in the order of the answer, each element, or what the GET patterns find for it; `None` for nothing.
    fn each_result(
        &self,
        ks: &mut Keyspace,
        db: usize,
        gets: &[Pattern],
        mut each: impl FnMut(Option<Item<'_>>),
    ) {
        let mut name = Vec::new();
        for row in &self.rows[self.wanted.clone()] {
            let element = self.bytes(row.element);
            if gets.is_empty() {
                each(Some(Item::Str(element)));
            }
            for get in gets {
                let found = get.look_up(ks, db, element, &mut name, |item| each(Some(item)));
                if found.is_none() {
                    each(None);
                }
            }
        }
    }
}

/// The number that C's `strtod` reads, which must be all there is up to a zero byte. Nothing at all reads as 0. A number so
/// small that digits are lost is out of its range.
fn number(text: &[u8]) -> Result<f64, CmdError> {
    let text = memchr::memchr(0, text).map_or(text, |end| &text[..end]);
    if text.is_empty() {
        return Ok(0.0);
    }
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | 9..=13)).count();
    parse_f64(&text[blanks..]).filter(|value| !value.is_subnormal()).ok_or(CmdError::SORT_NOT_FLOAT)
}

fn sort(ctx: &mut Ctx) -> CmdResult {
    run(ctx, true)
}

fn sort_ro(ctx: &mut Ctx) -> CmdResult {
    run(ctx, false)
}

fn run(ctx: &mut Ctx, may_store: bool) -> CmdResult {
    let mut options = Options::parse(ctx, may_store)?;
    let mut rows = Rows::load(ctx, &mut options)?;
    if !options.unsorted {
        rows.weigh(ctx, &options)?;
        rows.sort(options.descending, options.store.is_some());
    }
    let results = rows.wanted.len() * options.gets.len().max(1);
    if let Some(destination) = options.store {
        store(ctx, &rows, &options.gets, destination);
        ctx.out.len(results);
        return Ok(Outcome::Done);
    }
    let db = ctx.db();
    ctx.out.array(results);
    rows.each_result(ctx.ks, db, &options.gets, |result| match result {
        Some(Item::Str(bytes)) => ctx.out.bulk(bytes),
        Some(Item::Int(n)) => ctx.out.bulk_int(n),
        None => ctx.out.null(),
    });
    Ok(Outcome::Done)
}

/// Replaces the destination by a list of the results, nothing becoming an empty string; no results delete it.
fn store(ctx: &mut Ctx, rows: &Rows, gets: &[Pattern], destination: &[u8]) {
    let (db, limits) = (ctx.db(), ctx.list_limits());
    let mut list = List::new();
    let mut digits = itoa::Buffer::new();
    rows.each_result(ctx.ks, db, gets, |result| {
        let text = result.as_ref().map_or(&b""[..], |item| item.bytes(&mut digits));
        list.push(text, false, &limits);
    });
    if list.is_empty() {
        ctx.ks.delete(db, destination);
        return;
    }
    let count = list.len() as u64;
    ctx.ks.set(db, destination, Value::List(list), false);
    ctx.changed(destination, EventClass::LIST, "sortstore", count);
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::base::Rand;
    use crate::cmd::testing::Space;
    use crate::types::hash::{Hash, HashLimits};
    use crate::types::list::ListLimits;
    use crate::types::set::{Set, SetLimits};
    use crate::types::table::Seed;
    use crate::types::zset::{ZSet, ZsetLimits};

    fn list(space: &mut Space, key: &str, elements: &[&str]) {
        let mut list = List::new();
        let limits = ListLimits::default();
        elements.iter().for_each(|element| list.push(element.as_bytes(), false, &limits));
        space.ks.set(0, key.as_bytes(), Value::List(list), false);
    }

    fn set(space: &mut Space, key: &str, members: &[&str]) {
        let mut set = Set::new(Seed(1));
        let limits = SetLimits { intset_entries: 512, listpack_entries: 128, listpack_value: 64 };
        for member in members {
            set.add(member.as_bytes(), &limits);
        }
        space.ks.set(0, key.as_bytes(), Value::Set(set), false);
    }

    fn zset(space: &mut Space, key: &str, members: &[&str]) {
        let mut zset = ZSet::new(Seed(1));
        let limits = ZsetLimits { max_listpack_entries: 128, max_listpack_value: 64 };
        for (at, member) in members.iter().enumerate() {
            zset.set(member.as_bytes(), at as f64, &limits);
        }
        space.ks.set(0, key.as_bytes(), Value::ZSet(zset), false);
    }

    fn hash(space: &mut Space, key: &str, field: &str, value: &str) {
        let mut hash = Hash::new(Seed(1));
        let limits = HashLimits { listpack_entries: 128, listpack_value: 64 };
        hash.set(field.as_bytes(), value.as_bytes(), &limits);
        space.ks.set(0, key.as_bytes(), Value::Hash(hash), false);
    }

    /// The stored list, its elements joined by blanks.
    fn stored(space: &mut Space, key: &str) -> String {
        let Some(ValueRef::List(list)) = space.ks.peek(0, key.as_bytes()).map(|entry| entry.value()) else {
            return "none".to_owned();
        };
        let mut texts = Vec::new();
        list.for_each(|item| texts.push(item.to_vec()));
        String::from_utf8(texts.join(&b' ')).expect("ascii")
    }

    #[test]
    fn numbers_and_texts() {
        let mut space = Space::new();
        list(&mut space, "l", &["10", "9", "-1.5", "1e1"]);
        space.script(
            "SORT l => *4 $4 -1.5 $1 9 $2 10 $3 1e1
             SORT l DESC => *4 $3 1e1 $2 10 $1 9 $4 -1.5
             SORT l ALPHA => *4 $4 -1.5 $2 10 $3 1e1 $1 9
             SORT l LIMIT 1 2 => *2 $1 9 $2 10
             SORT l LIMIT 1 2 DESC ASC ALPHA DESC => *2 $3 1e1 $2 10
             SORT l LIMIT -5 1 => *1 $4 -1.5
             SORT l LIMIT 3 -1 => *1 $3 1e1
             SORT l LIMIT 4 10 => *0
             SORT l LIMIT 0 0 => *0
             SORT nosuch => *0
             SORT_RO nosuch ALPHA => *0",
        );
        list(&mut space, "l", &["x", "1"]);
        space.script("SORT l => -ERR One or more scores can't be converted into double");
    }

    #[test]
    fn numbers_are_read_as_strtod_does() {
        let ok: [(&[u8], f64); 6] = [
            (b"", 0.0),
            (b" \t7", 7.0),
            (b"0x10", 16.0),
            (b"-inf", f64::NEG_INFINITY),
            (b"1\0x", 1.0),
            (b"+3", 3.0),
        ];
        for (text, want) in ok {
            assert_eq!(number(text), Ok(want), "{}", text.escape_ascii());
        }
        for text in [&b" "[..], b"7 ", b"nan", b"1e999", b"x", b"5e-324", b"-1e-310"] {
            assert_eq!(number(text), Err(CmdError::SORT_NOT_FLOAT), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn weights_and_results_of_other_keys() {
        let mut space = Space::new();
        list(&mut space, "l", &["a", "b", "c"]);
        space.script("MSET w_a 3 w_b 1 w_c 2 n_a Anna n_c Carl *x 1 => +OK");
        hash(&mut space, "h_b", "f", "zz");
        hash(&mut space, "h_c", "f", "yy");
        space.script(
            "SORT l BY w_* => *3 $1 b $1 c $1 a
             SORT l BY w_* DESC LIMIT 0 1 => *1 $1 a
             SORT l BY w_* GET # GET n_* => *6 $1 b $-1 $1 c $4 Carl $1 a $4 Anna
             SORT l BY n_* ALPHA => *3 $1 b $1 a $1 c
             SORT l BY n_* ALPHA DESC => *3 $1 c $1 a $1 b
             SORT l BY h_*->f ALPHA => *3 $1 a $1 c $1 b
             SORT l BY h_*->f ALPHA GET h_*->f GET w_*->f GET w_* GET w_a => *12 $-1 $-1 $1 3 $-1 $2 yy $-1 $1 2 $-1 $2 zz $-1 $1 1 $-1
             SORT l BY nosuch_* => *3 $1 a $1 b $1 c
             SORT l BY n_* => -ERR One or more scores can't be converted into double",
        );
    }

    #[test]
    fn an_arrow_at_the_end_belongs_to_the_key() {
        let field = |text: &'static [u8]| match Pattern::parse(text) {
            Pattern::Key { suffix, field, .. } => (suffix, field),
            _ => panic!("a key"),
        };
        assert_eq!(field(b"a*->"), (&b"->"[..], None));
        assert_eq!(field(b"a*b->c->d"), (&b"b"[..], Some(&b"c->d"[..])));
        assert_eq!(field(b"a->b*c"), (&b"c"[..], None));
    }

    #[test]
    fn without_sorting_the_own_order_stays() {
        let mut space = Space::new();
        list(&mut space, "l", &["c", "a", "b"]);
        zset(&mut space, "z", &["c", "a", "b"]);
        set(&mut space, "s", &["3", "1", "2"]);
        for key in ["l", "z"] {
            space.script(&format!(
                "SORT {key} BY nosort => *3 $1 c $1 a $1 b
                 SORT {key} BY nosort DESC => *3 $1 b $1 a $1 c
                 SORT {key} BY nosort LIMIT 1 1 => *1 $1 a
                 SORT {key} BY nosort DESC LIMIT 0 2 => *2 $1 b $1 a
                 SORT {key} BY nosort LIMIT 3 1 => *0
                 SORT {key} ALPHA => *3 $1 a $1 b $1 c",
            ));
        }
        space.script(
            "SORT s DESC => *3 $1 3 $1 2 $1 1
             SORT s BY nosort LIMIT 1 1 => *1 $1 1
             SORT s BY nosort DESC STORE to => :3",
        );
        assert_eq!(stored(&mut space, "to"), "3 2 1");
    }

    #[test]
    fn texts_are_compared_up_to_a_zero_byte_unless_stored() {
        let mut space = Space::new();
        list(&mut space, "l", &["a\0b", "a", "a\0a"]);
        space.script(
            "SORT l ALPHA => *3 $3 a\0b $1 a $3 a\0a
             SORT l ALPHA DESC LIMIT 0 2 => *2 $3 a\0b $1 a
             SORT l ALPHA STORE to => :3",
        );
        assert_eq!(stored(&mut space, "to"), "a a\0a a\0b");
    }

    #[test]
    fn a_sorted_set_is_a_skiplist_afterwards() {
        let mut space = Space::new();
        zset(&mut space, "z", &["2", "1"]);
        space.script("SORT_RO z => *2 $1 1 $1 2\nOBJECT ENCODING z => $8 skiplist");
    }

    #[test]
    fn storing_replaces_or_deletes() {
        let mut space = Space::new();
        list(&mut space, "l", &["2", "1"]);
        space.script("MSET to x w_1 one => +OK");
        space.events();
        let dirty = space.dirty();
        space.script("SORT l STORE to GET w_* GET # => :4");
        assert_eq!(stored(&mut space, "to"), "one 1  2");
        assert_eq!(space.events(), ["sortstore to"]);
        assert_eq!(space.dirty(), dirty + 4);
        space.script("SORT l STORE l => :2");
        assert_eq!(stored(&mut space, "l"), "1 2");
        space.events();
        space.script("SORT nosuch STORE to => :0\nSORT nosuch STORE to => :0");
        assert_eq!((space.events(), space.dirty()), (vec!["del to".to_owned()], dirty + 4 + 2 + 1));
    }

    #[test]
    fn bad_calls() {
        let mut space = Space::new();
        space.script(
            "SET s 1 => +OK
             SORT s => -WRONGTYPE Operation against a key holding the wrong kind of value
             SORT s BY nosort LIMIT 0 0 => -WRONGTYPE Operation against a key holding the wrong kind of value
             SORT s LIMIT 1 => -ERR syntax error
             SORT s LIMIT 1 x => -ERR value is not an integer or out of range
             SORT s GET => -ERR syntax error
             SORT s BY => -ERR syntax error
             SORT_RO s STORE x => -ERR syntax error",
        );
    }

    #[test]
    fn random_calls_agree_with_a_plain_sort() {
        for seed in 0..200 {
            let mut rng = Rand::seed_from_u64(seed);
            let mut space = Space::new();
            let numbers: Vec<i32> = (0..rng.random_range(0..60)).map(|_| rng.random_range(-50..50)).collect();
            let texts: Vec<String> = numbers.iter().map(i32::to_string).collect();
            list(&mut space, "l", &texts.iter().map(String::as_str).collect::<Vec<_>>());
            let (offset, count) = (rng.random_range(0..40), rng.random_range(0..40));
            let (alpha, descending) = (rng.random_bool(0.5), rng.random_bool(0.5));
            let mut want = texts;
            match alpha {
                true => want.sort(),
                false => want.sort_by_key(|text| text.parse::<i32>().expect("a number")),
            }
            if descending {
                want.reverse();
            }
            let want: Vec<String> = want.into_iter().skip(offset).take(count).collect();
            let mut line = format!("SORT l LIMIT {offset} {count} STORE to");
            line.push_str(if alpha { " ALPHA" } else { "" });
            line.push_str(if descending { " DESC" } else { "" });
            assert_eq!(space.line(&line), format!(":{}\r\n", want.len()), "seed {seed}");
            let want = if want.is_empty() { "none".to_owned() } else { want.join(" ") };
            assert_eq!(stored(&mut space, "to"), want, "seed {seed}");
        }
    }
}
