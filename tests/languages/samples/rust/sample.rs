//! A small cache.

use std::collections::{HashMap, hash_map::Entry};
use std::fmt::{self, Display};
use crate::store as backend;
pub use super::errors::*;
extern crate serde;

mod disk;

/// How many entries fit.
pub const CAPACITY: usize = 64;
static mut COUNTER: u32 = 0;

pub type Result<T> = std::result::Result<T, CacheError>;

/// A cache that forgets.
///
/// The oldest entry goes first.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Cache<K, V> {
    /// What is kept.
    entries: HashMap<K, V>,
    pub hits: u64,
}

pub struct Meters(f64);
struct Unit;

union Bits {
    int: u32,
    float: f32,
}

/* What can fail. */
#[derive(Debug)]
pub enum CacheError {
    Full,
    // Holds the key.
    Missing(String),
    Io { code: i32 },
}

pub trait Evict: Display + Send {
    type Key;
    const LIMIT: usize = 3;

    /// Drops one entry.
    fn evict(&mut self) -> Option<Self::Key>;

    fn name(&self) -> String {
        format!("{}", Self::LIMIT)
    }
}

impl<K, V> Cache<K, V> {
    pub const EMPTY: usize = 0;

    /// Makes an empty one.
    #[inline]
    pub fn new() -> Self {
        let entries = HashMap::new();
        Self { entries, hits: 0 }
    }

    pub async fn load(&self, key: K) -> Result<V> {
        fn nested(x: u8) -> u8 {
            x
        }
        const LOCAL: u8 = 1;
        nested(LOCAL);
        self.fetch::<K>(key).await
    }
}

impl<K, V> fmt::Display for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "cache")
    }
}

impl Evict for &Meters {
    type Key = u8;
    fn evict(&mut self) -> Option<u8> {
        backend::remove(1)
    }
}

impl From<backend::Error> for backend::Wrapper {}

/// Counts its arguments.
#[macro_export]
macro_rules! count {
    () => { 0 };
}

extern "C" {
    fn strlen(text: *const u8) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_oldest() {
        let add = |a: u8, b: u8| a + b;
        assert_eq!(add(1, 2), count!());
    }
}
