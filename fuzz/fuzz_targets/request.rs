//! The request parser: bytes fed in pieces give the same requests as bytes fed whole, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use redae::proto::request::{Arguments, Bounds, Parser, Step};

/// The requests in `input`, and whether it ended in an error; `cuts` says how long each piece is.
fn requests(input: &[u8], cuts: &mut dyn Iterator<Item = usize>) -> (Vec<Vec<Vec<u8>>>, bool) {
    let bounds = Bounds { bulk_bytes_max: 1 << 20, authenticated: true };
    let (mut parser, mut arguments) = (Parser::default(), Arguments::default());
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    let mut big: Option<(usize, Vec<u8>)> = None;
    let mut rest = input;
    while !rest.is_empty() {
        let (piece, later) = rest.split_at(cuts.next().unwrap_or(rest.len()).clamp(1, rest.len()));
        rest = later;
        let mut piece = piece;
        if let Some((len, mut body)) = big.take() {
            let take = (len + 2 - body.len()).min(piece.len());
            body.extend_from_slice(&piece[..take]);
            piece = &piece[take..];
            if body.len() < len + 2 {
                big = Some((len, body));
                continue;
            }
            body.truncate(len);
            parser.finish_big(body, buffer.len(), &mut arguments);
        }
        buffer.extend_from_slice(piece);
        loop {
            match parser.parse(&buffer, bounds, &mut arguments) {
                Step::NeedMore => break,
                Step::Error(_) => return (found, true),
                Step::BigBody { len } => {
                    big = Some((len, buffer.split_off(parser.position())));
                    break;
                }
                Step::Done { consumed } => {
                    let words = arguments.spans.iter().map(|&span| arguments.bytes(&buffer, span).to_vec());
                    let words: Vec<Vec<u8>> = words.collect();
                    if !words.is_empty() {
                        found.push(words);
                    }
                    arguments.clear();
                    buffer.drain(..consumed);
                }
            }
        }
    }
    (found, false)
}

fuzz_target!(|data: (Vec<u8>, Vec<u8>)| {
    let (input, cuts) = data;
    let whole = requests(&input, &mut std::iter::empty());
    let pieces = requests(&input, &mut cuts.iter().map(|&cut| cut as usize));
    assert_eq!(whole, pieces);
});
