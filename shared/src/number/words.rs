//! Every bit an observer remembers, as a flat sequence of 32-bit words.
//!
//! One list per type serves three users, so none can forget a field: the digest of each tick, the
//! snapshots a replay starts from, and the name of the first differing field. No padding, no
//! pointers: equal words mean equal behaviour.

use core::fmt;

use super::compensated::Compensated;

/// Where words go: a closure that takes each, or something that takes a row of them at once.
pub trait Put {
    fn word(&mut self, word: u32);

    #[inline(always)]
    fn words(&mut self, words: impl ExactSizeIterator<Item = u32>) {
        words.for_each(|w| self.word(w));
    }
}

impl<F: FnMut(u32)> Put for F {
    #[inline(always)]
    fn word(&mut self, word: u32) {
        self(word);
    }
}

/// A value made of words. `S: Words` lists its fields once, with `impl_words!`.
pub trait Words: Sized {
    /// Hand every word to `put`, in field order.
    fn save(&self, put: &mut impl Put);
    /// The same of every one of `list`, in order.
    #[inline(always)]
    fn save_all(list: &[Self], put: &mut impl Put) {
        list.iter().for_each(|x| x.save(put));
    }
    /// What the digest of a tick takes: all words, unless a type that is large and slow says which part is due.
    #[inline(always)]
    fn sample(&self, put: &mut impl Put) {
        self.save(put);
    }
    /// Rebuild the value from the words [`Words::save`] gave.
    fn load(get: &mut impl FnMut() -> u32) -> Self;
    /// Call `visit` once per word, in the same order, with the word's name.
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>));
}

/// Where a word stands in the state, printed as `ekf.joint.p\[3\]`.
pub enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'static str),
    Index(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(Path::Root, name) => f.write_str(name),
            Path::Field(parent, name) => write!(f, "{parent}.{name}"),
            Path::Index(parent, i) => write!(f, "{parent}[{i}]"),
        }
    }
}

macro_rules! words {
    ($t:ty, $to:expr, $from:expr) => {
        impl Words for $t {
            #[inline(always)]
            fn save(&self, put: &mut impl Put) {
                put.word($to(*self));
            }
            #[inline(always)]
            fn save_all(list: &[Self], put: &mut impl Put) {
                put.words(list.iter().map(|x| $to(*x)));
            }
            #[inline(always)]
            fn load(get: &mut impl FnMut() -> u32) -> Self {
                $from(get())
            }
            fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
                visit(path);
            }
        }
    };
}

words!(u32, |x: u32| x, |w: u32| w);
words!(i32, |x: i32| x as u32, |w: u32| w as i32);
words!(u8, |x: u8| x as u32, |w: u32| w as u8);
words!(u16, |x: u16| x as u32, |w: u32| w as u16);
words!(bool, |x: bool| x as u32, |w: u32| w != 0);
words!(f32, f32::to_bits, f32::from_bits);

macro_rules! double_words {
    ($t:ty, $to:expr, $from:expr) => {
        impl Words for $t {
            #[inline(always)]
            fn save(&self, put: &mut impl Put) {
                let x: u64 = $to(*self);
                put.word(x as u32);
                put.word((x >> 32) as u32);
            }
            #[inline(always)]
            fn load(get: &mut impl FnMut() -> u32) -> Self {
                let low = get() as u64;
                $from(low | (get() as u64) << 32)
            }
            fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
                visit(&Path::Field(path, "low"));
                visit(&Path::Field(path, "high"));
            }
        }
    };
}

double_words!(u64, |x: u64| x, |w: u64| w);
double_words!(i64, |x: i64| x as u64, |w: u64| w as i64);
double_words!(f64, f64::to_bits, f64::from_bits);

/// Nothing to remember.
impl Words for () {
    #[inline(always)]
    fn save(&self, _: &mut impl Put) {}
    #[inline(always)]
    fn load(_: &mut impl FnMut() -> u32) {}
    fn names(_: &Path<'_>, _: &mut dyn FnMut(&Path<'_>)) {}
}

impl<T: Words, const N: usize> Words for [T; N] {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        T::save_all(self, put);
    }
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        core::array::from_fn(|_| T::load(get))
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        for i in 0..N {
            T::names(&Path::Index(path, i), visit);
        }
    }
}

/// A value that snapshots carry and the digest of a tick leaves out: intermediate results whose every difference shows in what
/// they are computed into.
#[derive(Clone, Copy, Debug)]
pub struct Intermediate<T>(pub T);

impl<T: Words> Words for Intermediate<T> {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        self.0.save(put);
    }
    #[inline(always)]
    fn sample(&self, _: &mut impl Put) {}
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        Intermediate(T::load(get))
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        T::names(path, visit);
    }
}

impl<S: Words> Words for Compensated<S> {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        self.0.save(put);
    }
    #[inline(always)]
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        Compensated(S::load(get))
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        S::names(path, visit);
    }
}

/// Implement [`Words`] for a struct by listing all its fields; a forgotten field does not compile.
///
/// `impl_words!(Tracker<S> { q, w })` or, without a parameter, `impl_words!(Unwrap { last, total })`.
#[macro_export]
macro_rules! impl_words {
    ($t:ident $(<$s:ident>)? { $($f:ident),+ $(,)? }) => {
        impl $(<$s: $crate::number::words::Words>)? $crate::number::words::Words for $t $(<$s>)? {
            #[inline(always)]
            fn save(&self, put: &mut impl $crate::number::words::Put) {
                let Self { $($f),+ } = self;
                $($crate::number::words::Words::save($f, put);)+
            }
            #[inline(always)]
            fn sample(&self, put: &mut impl $crate::number::words::Put) {
                let Self { $($f),+ } = self;
                $($crate::number::words::Words::sample($f, put);)+
            }
            #[inline(always)]
            fn load(get: &mut impl FnMut() -> u32) -> Self {
                Self { $($f: $crate::number::words::Words::load(get)),+ }
            }
            fn names(path: &$crate::number::words::Path<'_>, visit: &mut dyn FnMut(&$crate::number::words::Path<'_>)) {
                // The closures only carry the field's type to `names`; they are never called.
                fn names_of<O, T: $crate::number::words::Words>(
                    _: fn(&O) -> &T,
                    path: &$crate::number::words::Path<'_>,
                    visit: &mut dyn FnMut(&$crate::number::words::Path<'_>),
                ) {
                    T::names(path, visit);
                }
                $(names_of(|x: &Self| &x.$f, &$crate::number::words::Path::Field(path, stringify!($f)), visit);)+
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{format, string::String, vec::Vec};

    struct Pair<S> {
        a: [S; 2],
        b: Compensated<S>,
        n: u64,
    }
    impl_words!(Pair<S> { a, b, n });

    #[test]
    fn words_names_and_values_agree() {
        let x = Pair {
            a: [1.5f32, -0.0],
            b: Compensated(2.0),
            n: 0x1_0000_0002,
        };
        let mut words = Vec::new();
        x.save(&mut |w| words.push(w));
        assert_eq!(words, [0x3fc0_0000, 0x8000_0000, 0x4000_0000, 2, 1]);
        let mut names: Vec<String> = Vec::new();
        Pair::<f32>::names(&Path::Root, &mut |p| names.push(format!("{p}")));
        assert_eq!(names, ["a[0]", "a[1]", "b", "n.low", "n.high"]);
        let mut it = words.iter().copied();
        let y = Pair::<f32>::load(&mut || it.next().unwrap());
        let mut again = Vec::new();
        y.save(&mut |w| again.push(w));
        assert_eq!(again, words);
    }
}
