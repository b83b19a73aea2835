//! Listpacks and intsets from outside: hostile bytes are refused or give a sound structure that reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use redae::types::intset::Intset;
use redae::types::listpack::Listpack;

fuzz_target!(|data: &[u8]| {
    if let Ok(pack) = Listpack::from_redis_bytes(data) {
        pack.check();
        let items: Vec<Vec<u8>> = pack.iter().map(|item| item.to_vec()).collect();
        let backwards: Vec<Vec<u8>> = pack.iter().rev().map(|item| item.to_vec()).collect();
        assert!(items.iter().eq(backwards.iter().rev()));
        let mut bytes = Vec::new();
        pack.to_redis_bytes(&mut bytes);
        let again = Listpack::from_redis_bytes(&bytes).expect("our own bytes are sound");
        assert!(again.iter().map(|item| item.to_vec()).eq(items));
    }
    if let Ok(set) = Intset::from_redis_bytes(data) {
        let members: Vec<i64> = set.iter().collect();
        assert!(members.is_sorted());
        assert!(members.iter().all(|&member| set.contains(member)));
    }
});
