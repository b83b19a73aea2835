//! The sub-commands of DEBUG that describe how things are stored.

use std::fmt::Write;

use crate::base::alloc::class_bytes;
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::base::session::Session;
use crate::db::entry::KeyEntry;
use crate::db::value::ValueRef;
use crate::net::clients::Client;
use crate::types::hash::Hash;
use crate::types::item::{Item, canonical_int};
use crate::types::list::{List, Part};
use crate::types::set::Set;
use crate::types::table::TableStats;
use crate::types::thin::Thin;
use crate::types::zset::ZSet;

use super::super::Server;

/// Classes of client memory: powers of two, from this one on.
const CLIENT_CLASS_BITS_MIN: u32 = 15;

/// How many there are.
const CLIENT_CLASSES: usize = 19;

/// Places in a bucket of a hash table.
const BUCKET_PLACES: usize = 7;

fn find<'s>(server: &'s Server, slot: usize, key: &[u8]) -> Result<&'s KeyEntry, CmdError> {
    let db = server.clients.get(slot).session.db;
    server.engine.ks.db(db).find(key).ok_or(CmdError::NO_SUCH_KEY)
}

pub(super) fn object(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let entry = find(server, slot, args[2])?;
    let access = entry.access();
    let idle_secs = server.engine.ks.access_clock.wrapping_sub(access) & 0x00ff_ffff;
    let mut text = format!(
        "Value at:{entry:p} refcount:1 encoding:{} serializedlength:{} lru:{access} lru_seconds_idle:{idle_secs}",
        entry.encoding(),
        serialized_len(entry)
    );
    if let ValueRef::List(list) = entry.value()
        && list.encoding() == "quicklist"
    {
        let nodes = list.node_count();
        let bytes: usize = part_sizes(list).iter().map(|(_, bytes)| bytes).sum();
        // Writing into a String cannot fail, here and below.
        let _ = write!(
            text,
            " ql_nodes:{nodes} ql_avg_node:{:.2} ql_listpack_max:{} ql_compressed:{} ql_uncompressed_size:{bytes}",
            list.len() as f64 / nodes as f64,
            server.engine.config.list_max_listpack_size,
            u8::from(server.engine.config.list_compress_depth > 0)
        );
    }
    server.reply(slot).simple(&text);
    Ok(())
}

/// What the parts of a list are called, and their bytes when nothing is compressed.
fn part_sizes(list: &List) -> Vec<(&'static str, usize)> {
    let mut sizes = Vec::new();
    list.each_part(|part| {
        sizes.push(match part {
            Part::Packed(pack) => ("packed", pack.byte_len()),
            Part::Plain(text) => ("plain", text.len()),
        });
    });
    sizes
}

/// Bytes of a value in an RDB file, if nothing is compressed.
fn serialized_len(entry: &KeyEntry) -> usize {
    match entry.value() {
        ValueRef::Int(n) => saved_item(&Item::Int(n)),
        ValueRef::Str(bytes) => saved_text(bytes),
        ValueRef::List(list) => saved_list(list),
        ValueRef::Set(set) => match (set.intset(), set.listpack()) {
            (Some(ints), _) => saved_blob(8 + ints.iter().map(int_width).max().unwrap_or(2) * ints.len()),
            (_, Some(pack)) => saved_blob(pack.byte_len()),
            _ => saved_number(set.len()) + set.iter().map(|member| saved_item(&member)).sum::<usize>(),
        },
        ValueRef::Hash(hash) => match hash.listpack() {
            Some((pack, _)) => saved_blob(pack.byte_len()),
            None => {
                let pairs = hash.iter().map(|(field, value)| saved_item(&field) + saved_item(&value));
                saved_number(hash.len()) + pairs.sum::<usize>()
            }
        },
        ValueRef::ZSet(zset) => match zset.listpack() {
            Some(pack) => saved_blob(pack.byte_len()),
            None => {
                let pairs = zset.iter().map(|(member, _)| saved_item(&member) + size_of::<f64>());
                saved_number(zset.len()) + pairs.sum::<usize>()
            }
        },
    }
}

fn saved_list(list: &List) -> usize {
    if list.encoding() == "listpack" {
        return saved_blob(part_sizes(list).iter().map(|(_, bytes)| bytes).sum());
    }
    // Each node says in a byte whether it is packed.
    saved_number(list.node_count())
        + part_sizes(list).iter().map(|(_, bytes)| 1 + saved_blob(*bytes)).sum::<usize>()
}

fn int_width(n: i64) -> usize {
    match n {
        -0x8000..=0x7fff => 2,
        -0x8000_0000..=0x7fff_ffff => 4,
        _ => 8,
    }
}

fn saved_number(n: usize) -> usize {
    match n {
        ..64 => 1,
        64..16_384 => 2,
        16_384..=0xffff_ffff => 5,
        _ => 9,
    }
}

fn saved_blob(len: usize) -> usize {
    saved_number(len) + len
}

fn saved_item(item: &Item) -> usize {
    saved_text(item.bytes(&mut itoa::Buffer::new()))
}

/// Texts of small integers are saved in binary.
fn saved_text(text: &[u8]) -> usize {
    match canonical_int(text) {
        Some(-0x80..=0x7f) => 2,
        Some(-0x8000..=0x7fff) => 3,
        Some(-0x8000_0000..=0x7fff_ffff) => 5,
        _ => saved_blob(text.len()),
    }
}

pub(super) fn sdslen(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let ValueRef::Str(value) = find(server, slot, args[2])?.value() else {
        return Err(CmdError::fixed("ERR Not an sds encoded string."));
    };
    let (key, value) = (args[2].len(), value.len());
    let text = format!(
        "key_sds_len:{key}, key_sds_avail:0, key_zmalloc: {}, val_sds_len:{value}, val_sds_avail:0, val_zmalloc: {}",
        class_bytes(key),
        class_bytes(value)
    );
    server.reply(slot).simple(&text);
    Ok(())
}

pub(super) fn listpack(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let entry = find(server, slot, args[2])?;
    if !entry.encoding().starts_with("listpack") {
        return Err(CmdError::fixed("ERR Not a listpack encoded object."));
    }
    server.log.notice(&format!(
        "Listpack of {} elements, {} bytes saved",
        entry.value().len(),
        serialized_len(entry)
    ));
    server.reply(slot).simple("Listpack structure printed on stdout");
    Ok(())
}

pub(super) fn quicklist(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    if args.len() > 4 {
        return Err(CmdError::subcommand_syntax("debug", args[1]));
    }
    let list = match find(server, slot, args[2])?.value() {
        ValueRef::List(list) if list.encoding() == "quicklist" => list,
        _ => return Err(CmdError::fixed("ERR Not a quicklist encoded object.")),
    };
    server.log.notice(&format!("Quicklist of {} elements in {} nodes", list.len(), list.node_count()));
    for (at, (kind, bytes)) in part_sizes(list).into_iter().enumerate() {
        server.log.notice(&format!("Node {at}: {kind}, {bytes} bytes"));
    }
    server.reply(slot).simple("Quicklist structure printed on stdout");
    Ok(())
}

pub(super) fn structsize(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    let sizes = [
        ("keyentry", size_of::<KeyEntry>()),
        ("thin", size_of::<Thin>()),
        ("list", size_of::<List>()),
        ("set", size_of::<Set>()),
        ("hash", size_of::<Hash>()),
        ("zset", size_of::<ZSet>()),
        ("client", size_of::<Client>()),
        ("session", size_of::<Session>()),
    ];
    let mut text = format!("bits:{} ", usize::BITS);
    for (name, size) in sizes {
        let _ = write!(text, "{name}:{size} ");
    }
    server.reply(slot).bulk(text.as_bytes());
    Ok(())
}

pub(super) fn htstats(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let db = parse_i64(args[2]).ok_or(CmdError::NOT_INTEGER)?;
    let db = usize::try_from(db).ok().filter(|&db| db < server.engine.ks.count());
    let db = server.engine.ks.db(db.ok_or_else(|| CmdError::fixed("ERR Out of range database"))?);
    let [keys, expires] = db.table_stats();
    let mut text = String::from("[Dictionary HT]\n");
    describe_tables(&mut text, &keys);
    text.push_str("[Expires HT]\n");
    describe_tables(&mut text, &expires);
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}

pub(super) fn htstats_key(server: &mut Server, slot: usize, args: &[&[u8]]) -> Result<(), CmdError> {
    let tables = match find(server, slot, args[2])?.value() {
        ValueRef::Set(set) => set.table().map(|table| table.stats()),
        ValueRef::Hash(hash) => hash.table_stats(),
        ValueRef::ZSet(zset) => zset.table_stats(),
        _ => None,
    };
    let tables = tables.ok_or_else(|| {
        CmdError::fixed("ERR The value stored at the specified key is not represented using an hash table")
    })?;
    let mut text = String::new();
    describe_tables(&mut text, &tables);
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}

fn describe_tables(text: &mut String, tables: &[TableStats]) {
    if tables.iter().all(|table| table.elements == 0) {
        text.push_str("Hash table 0 stats (main hash table):\nNo stats available for empty dictionaries\n");
        return;
    }
    for (at, table) in tables.iter().enumerate() {
        let what = if at == 0 { "main hash table" } else { "rehashing target" };
        let _ = write!(
            text,
            "Hash table {at} stats ({what}):\n table size: {}\n number of elements: {}\n buckets: {}\n different \
             buckets: {}\n max elements in a bucket chain: {}\n avg elements in a bucket chain: {:.2}\n Overflow \
             buckets distribution:\n",
            table.buckets * BUCKET_PLACES,
            table.elements,
            table.buckets,
            table.used_buckets,
            table.longest,
            table.elements as f64 / table.used_buckets.max(1) as f64
        );
        for (length, &count) in table.chains.iter().enumerate().filter(|(_, count)| **count > 0) {
            let _ =
                writeln!(text, "   {length}: {count} ({:.2}%)", count as f64 * 100.0 / table.buckets as f64);
        }
    }
}

pub(super) fn client_eviction(server: &mut Server, slot: usize, _: &[&[u8]]) -> Result<(), CmdError> {
    if server.engine.config.maxmemory_clients == 0 {
        return Err(CmdError::fixed("ERR maxmemory-clients is disabled."));
    }
    let mut classes = [(0usize, 0usize); CLIENT_CLASSES];
    for (_, client) in server.clients.iter() {
        let bytes = client.mem_size();
        let class = (usize::BITS - bytes.leading_zeros()).saturating_sub(CLIENT_CLASS_BITS_MIN) as usize;
        let (sum, count) = &mut classes[class.min(CLIENT_CLASSES - 1)];
        *sum += bytes;
        *count += 1;
    }
    let mut text = String::new();
    for (class, (sum, count)) in classes.into_iter().enumerate() {
        let power = |class: usize| 1usize << (class as u32 + CLIENT_CLASS_BITS_MIN);
        let from = if class == 0 { 0 } else { power(class - 1) };
        let _ = write!(text, "bucket {from:>10}");
        match class {
            _ if class == CLIENT_CLASSES - 1 => text.push_str("+            : "),
            _ => drop(write!(text, " - {:>10}: ", power(class) - 1)),
        }
        let _ = writeln!(text, "tot-mem: {sum:>10}, clients: {count}");
    }
    server.reply(slot).verbatim("txt", text.as_bytes());
    Ok(())
}
