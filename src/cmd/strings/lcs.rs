//! LCS: the longest common subsequence of two strings. Touches db, types, proto and base.
//!
//! The textbook table, `cell[i][j]` being the length for the first `i` bytes of one string and the first `j` of the
//! other, in rows of 32-bit numbers. The subsequence is found by walking back from the last cell. Where two are equally
//! long the walk decides, so it takes the turns that Redis takes.

use super::string_bytes;
use crate::base::error::CmdError;
use crate::base::num::parse_i64;
use crate::cmd::ctx::{CmdResult, Ctx, DataFn, Outcome};
use crate::cmd::spec::{Acl, CommandSpec, Flags, Group, KeyFlags, KeySpec};

/// The commands of this file.
pub const SPECS: &[CommandSpec<DataFn>] = &[CommandSpec {
    name: "lcs",
    summary: "Finds the longest common subsequence of two strings.",
    since: "7.0.0",
    group: Group::String,
    complexity: "O(N*M), N and M being the lengths of the strings.",
    arity: -3,
    flags: Flags::READONLY,
    acl: Acl::STRING,
    keys: &[KeySpec::one(KeyFlags::RO_ACCESS).to(1)],
    syntax: "key1:key key2:key#0 [LEN] [IDX] [MINMATCHLEN min-match-len:int] [WITHMATCHLEN]",
    handler: Some(lcs),
    ..CommandSpec::DEFAULT
}];

#[derive(Default)]
struct Options {
    len: bool,
    idx: bool,
    with_match_len: bool,
    match_len_min: i64,
}

impl Options {
    fn parse(args: &[&[u8]]) -> Result<Options, CmdError> {
        let mut options = Options::default();
        let mut words = args[3..].iter();
        while let Some(word) = words.next() {
            if word.eq_ignore_ascii_case(b"IDX") {
                options.idx = true;
            } else if word.eq_ignore_ascii_case(b"LEN") {
                options.len = true;
            } else if word.eq_ignore_ascii_case(b"WITHMATCHLEN") {
                options.with_match_len = true;
            } else if word.eq_ignore_ascii_case(b"MINMATCHLEN")
                && let Some(number) = words.next()
            {
                options.match_len_min = parse_i64(number).ok_or(CmdError::NOT_INTEGER)?;
            } else {
                return Err(CmdError::SYNTAX);
            }
        }
        if options.idx && options.len {
            return Err(CmdError::LCS_LEN_IDX);
        }
        Ok(options)
    }
}

fn lcs(ctx: &mut Ctx) -> CmdResult {
    // Both keys count as read even if one of them is of another type.
    let (a, b) = (source(ctx, 1), source(ctx, 2));
    let (a, b) = (a?, b?);
    let options = Options::parse(ctx.args)?;
    let table = Table::new(&a, &b, ctx.config.proto_max_bulk_len)?;
    if options.idx {
        reply_matches(ctx, &table.matches(&a, &b), table.len(), &options);
    } else if options.len {
        ctx.out.len(table.len());
    } else {
        let mut text = Vec::with_capacity(table.len());
        for run in table.matches(&a, &b).iter().rev() {
            text.extend_from_slice(&a[run.a..run.a + run.len]);
        }
        ctx.out.bulk(&text);
    }
    Ok(Outcome::Done)
}

/// A copy of one of the strings; empty if the key is missing.
fn source(ctx: &mut Ctx, index: usize) -> Result<Vec<u8>, CmdError> {
    match ctx.ks.read(ctx.session.db, ctx.args[index]) {
        Some(entry) => string_bytes(entry.value(), &mut itoa::Buffer::new())
            .map(<[u8]>::to_vec)
            .map_err(|_| CmdError::LCS_NOT_STRINGS),
        None => Ok(Vec::new()),
    }
}

fn reply_matches(ctx: &mut Ctx, matches: &[Match], len: usize, options: &Options) {
    let long_enough = |run: &&Match| run.len as i64 >= options.match_len_min;
    ctx.out.map(2);
    ctx.out.bulk(b"matches");
    ctx.out.array(matches.iter().filter(long_enough).count());
    for run in matches.iter().filter(long_enough) {
        ctx.out.array(if options.with_match_len { 3 } else { 2 });
        for start in [run.a, run.b] {
            ctx.out.array(2);
            ctx.out.len(start);
            ctx.out.len(start + run.len - 1);
        }
        if options.with_match_len {
            ctx.out.len(run.len);
        }
    }
    ctx.out.bulk(b"len");
    ctx.out.len(len);
}

/// A run of bytes of the subsequence that stand next to each other in both strings.
struct Match {
    a: usize,
    b: usize,
    len: usize,
}

struct Table {
    cells: Vec<u32>,
    width: usize,
}

impl Table {
    fn new(a: &[u8], b: &[u8], bytes_max: u64) -> Result<Table, CmdError> {
        if a.len().max(b.len()) as u64 >= u64::from(u32::MAX) - 1 {
            return Err(CmdError::LCS_TOO_LONG);
        }
        let width = b.len() + 1;
        let count = (a.len() + 1).checked_mul(width).ok_or(CmdError::LCS_NO_MEMORY)?;
        if count as u64 > bytes_max / size_of::<u32>() as u64 {
            return Err(CmdError::LCS_TOO_BIG);
        }
        let mut cells = Vec::new();
        cells.try_reserve_exact(count).map_err(|_| CmdError::LCS_NO_MEMORY)?;
        cells.resize(count, 0);
        for (i, &byte) in a.iter().enumerate() {
            let (done, rest) = cells.split_at_mut((i + 1) * width);
            fill_row(&done[i * width..], &mut rest[..width], byte, b);
        }
        Ok(Table { cells, width })
    }

    /// Length of the subsequence of the first `i` and `j` bytes.
    fn cell(&self, i: usize, j: usize) -> u32 {
        self.cells[i * self.width + j]
    }

    /// Length of the whole subsequence.
    fn len(&self) -> usize {
        self.cells.last().copied().unwrap_or(0) as usize
    }

    /// The runs that the subsequence consists of, the last one first.
    fn matches(&self, a: &[u8], b: &[u8]) -> Vec<Match> {
        let mut runs: Vec<Match> = Vec::new();
        let (mut i, mut j) = (a.len(), b.len());
        while i > 0 && j > 0 {
            if a[i - 1] == b[j - 1] {
                (i, j) = (i - 1, j - 1);
                match runs.last_mut() {
                    Some(run) if (run.a, run.b) == (i + 1, j + 1) => {
                        (run.a, run.b) = (i, j);
                        run.len += 1;
                    }
                    _ => runs.push(Match { a: i, b: j, len: 1 }),
                }
            } else if self.cell(i - 1, j) > self.cell(i, j - 1) {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        runs
    }
}

/// Computes the row of one more byte from the row above.
fn fill_row(above: &[u32], row: &mut [u32], byte: u8, b: &[u8]) {
    let mut left = 0;
    for ((cell, pair), &other) in row[1..].iter_mut().zip(above.windows(2)).zip(b) {
        left = if byte == other { pair[0] + 1 } else { left.max(pair[1]) };
        *cell = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::testing::Space;

    fn space() -> Space {
        let mut space = Space::new();
        space.script("MSET a ohmytext b mynewtext n 1234 => +OK");
        space
    }

    #[test]
    fn replies_are_redis_s() {
        space().script(
            "LCS a b => $6 mytext
             LCS a b LEN => :6
             LCS a b IDX => *4 $7 matches *2 *2 *2 :4 :7 *2 :5 :8 *2 *2 :2 :3 *2 :0 :1 $3 len :6
             LCS a b IDX MINMATCHLEN 4 => *4 $7 matches *1 *2 *2 :4 :7 *2 :5 :8 $3 len :6
             LCS a b idx withmatchlen MINMATCHLEN 4 => *4 $7 matches *1 *3 *2 :4 :7 *2 :5 :8 :4 $3 len :6
             LCS a none => $0
             LCS none a IDX => *4 $7 matches *0 $3 len :0
             LCS n n => $4 1234
             LCS n n IDX MINMATCHLEN -3 => *4 $7 matches *1 *2 *2 :0 :3 *2 :0 :3 $3 len :4
             LCS a b LEN IDX => -ERR If you want both the length and indexes, please just use IDX.
             LCS a b MINMATCHLEN => -ERR syntax error
             LCS a b MINMATCHLEN x => -ERR value is not an integer or out of range
             LCS a b FOO => -ERR syntax error",
        );
    }

    #[test]
    fn indices_come_as_a_map_in_resp3() {
        let mut space = space();
        space.resp3(true);
        space.script("LCS a none IDX => %2 $7 matches *0 $3 len :0");
    }

    #[test]
    fn a_table_beyond_the_limit_is_refused() {
        assert_eq!(Table::new(&[b'x'; 9], &[b'y'; 9], 399).err(), Some(CmdError::LCS_TOO_BIG));
        assert!(Table::new(&[b'x'; 9], &[b'y'; 9], 400).is_ok());
    }

    /// The length by plain recursion over subsequences, for short strings.
    fn naive_len(a: &[u8], b: &[u8]) -> usize {
        match (a, b) {
            ([x, a_rest @ ..], [y, b_rest @ ..]) if x == y => 1 + naive_len(a_rest, b_rest),
            ([_, a_rest @ ..], [_, b_rest @ ..]) => naive_len(a_rest, b).max(naive_len(a, b_rest)),
            _ => 0,
        }
    }

    #[test]
    fn matches_form_a_longest_common_subsequence() {
        use rand::{Rng, SeedableRng};
        for seed in 0..300 {
            let mut rng = crate::base::Rand::seed_from_u64(seed);
            let mut text = || {
                let len = rng.random_range(0..9);
                (0..len).map(|_| rng.random_range(b'a'..b'd')).collect::<Vec<_>>()
            };
            let (a, b) = (text(), text());
            let table = Table::new(&a, &b, 1 << 20).expect("a small table");
            assert_eq!(table.len(), naive_len(&a, &b), "seed {seed}: {a:?} {b:?}");
            let runs = table.matches(&a, &b);
            assert_eq!(runs.iter().map(|run| run.len).sum::<usize>(), table.len(), "seed {seed}");
            for run in &runs {
                assert_eq!(a[run.a..run.a + run.len], b[run.b..run.b + run.len], "seed {seed}");
            }
            for pair in runs.windows(2) {
                let apart = pair[1].a + pair[1].len <= pair[0].a && pair[1].b + pair[1].len <= pair[0].b;
                assert!(apart, "seed {seed}: runs overlap");
            }
        }
    }
}
