//! Covariance of the filter's states and its two operations, each cut into parts that fit between two ticks.
//!
//! | index | state |
//! |---|---|
//! | 0–3 | θ0 θ1 \[rad, encoder's frame\], ω0 ω1 \[rad/s\] |
//! | 4–7 | μd0 μv0 μd1 μv1 |
//! | 8–14 | zeros of both encoders \[rad\], tilt \[rad\], relative errors of arm, link, length, gravity |
//! | 15–16 | quadratic drag d0 d1 |
//!
//! Both operations keep the matrix symmetric by construction. The measurement update holds for any gain, so states can be
//! considered (gain 0) without the covariance losing its meaning. `n` is the number of states in use: the rest stay zero.
//!
//! *Measurement update* of one joint in any number of parts: first the block of the parameters, then rows and columns of (θ, ω). The gain
//! depends on the latter only, so every part can compute it anew and nothing is carried between ticks.
//! *Time update* in order: [`Covariance::begin_predict`], [`Covariance::predict_columns`] over 4..n, [`Covariance::end_predict`].

use crate::impl_words;
use crate::number::scalar::Scalar;
use crate::number::words::{Path, Put, Words};

/// States of the largest filter.
pub const STATES: usize = 17;
/// θ and ω.
pub const MOTION: usize = 4;
/// First of the friction parameters, of the rig's states, of the drag.
pub const FRICTION: usize = 4;
pub const RIG: usize = 8;
pub const DRAG: usize = 15;
/// Ticks in which every row is in the digest once.
const TURNS: u8 = 10;

/// A symmetric matrix; the words of its state are its lower triangle.
#[derive(Clone, Copy, Debug)]
pub struct Covariance<S> {
    m: [[S; STATES]; STATES],
    /// Which rows the digest takes next.
    turn: u8,
}

/// F of (θ, ω) over one cycle: δω' = velocity·δω + forced, δθ' = δθ + travel·δω + ½·span·forced.
#[derive(Clone, Copy, Debug)]
pub struct Transition<S> {
    /// ∂ω'/∂ω.
    pub velocity: [[S; 2]; 2],
    /// ∂θ'/∂ω \[s\].
    pub travel: [[S; 2]; 2],
    /// ∂ω'/∂θ \[1/s\]; the zeros act as −θ.
    pub stiffness: [[S; 2]; 2],
    /// ∂ω'/∂(torque of each joint) \[1/(kg·m²)·s\].
    pub torque: [[S; 2]; 2],
    /// ∂f/∂(μd, μv, d) of each joint.
    pub regressor: [[S; 3]; 2],
    /// ∂ω'/∂(tilt, arm, link, length, gravity).
    pub rig: [[S; 5]; 2],
    /// Half a cycle \[s\].
    pub half_span: S,
}
impl_words!(Transition<S> { velocity, travel, stiffness, torque, regressor, rig, half_span });

impl<S: Scalar> Transition<S> {
    pub const NONE: Self = Transition {
        velocity: [[S::ZERO; 2]; 2],
        travel: [[S::ZERO; 2]; 2],
        stiffness: [[S::ZERO; 2]; 2],
        torque: [[S::ZERO; 2]; 2],
        regressor: [[S::ZERO; 3]; 2],
        rig: [[S::ZERO; 5]; 2],
        half_span: S::ZERO,
    };

    /// (θ, ω) of F·x for one column x with `n` states in use.
    #[inline(never)]
    fn apply(&self, x: &[S; STATES], n: usize) -> [S; MOTION] {
        let f = self;
        let mut forced = [
            f.stiffness[0][0] * x[0] + f.stiffness[0][1] * x[1],
            f.stiffness[1][0] * x[0] + f.stiffness[1][1] * x[1],
        ];
        if n > MOTION {
            let mut torque = [
                f.regressor[0][0] * x[4] + f.regressor[0][1] * x[5],
                f.regressor[1][0] * x[6] + f.regressor[1][1] * x[7],
            ];
            if n > DRAG {
                torque[0] += f.regressor[0][2] * x[15];
                torque[1] += f.regressor[1][2] * x[16];
            }
            for (forced, f) in forced.iter_mut().zip(&f.torque) {
                *forced -= f[0] * torque[0] + f[1] * torque[1];
            }
        }
        if n > RIG {
            for i in 0..2 {
                let r = &f.rig[i];
                forced[i] +=
                    r[0] * x[10] + r[1] * x[11] + r[2] * x[12] + r[3] * x[13] + r[4] * x[14]
                        - f.stiffness[i][0] * x[8]
                        - f.stiffness[i][1] * x[9];
            }
        }
        let [f0, f1] = forced;
        [
            x[0] + f.travel[0][0] * x[2] + f.travel[0][1] * x[3] + f.half_span * f0,
            x[1] + f.travel[1][0] * x[2] + f.travel[1][1] * x[3] + f.half_span * f1,
            f.velocity[0][0] * x[2] + f.velocity[0][1] * x[3] + f0,
            f.velocity[1][0] * x[2] + f.velocity[1][1] * x[3] + f1,
        ]
    }
}

/// A measurement of one joint as the covariance sees it: g = P·hᵀ, s = h·g + R, gain k.
pub struct Gain<S> {
    /// g and k of each state.
    pub gk: [[S; 2]; STATES],
    pub s: S,
}

impl<S: Scalar> Covariance<S> {
    /// Independent (θ, ω) with these variances; everything else known.
    pub fn diagonal(variances: [S; MOTION]) -> Self {
        let mut m = [[S::ZERO; STATES]; STATES];
        for (i, v) in variances.into_iter().enumerate() {
            m[i][i] = v;
        }
        Covariance { m, turn: 0 }
    }

    /// Entry (i, j); zero outside the matrix.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> S {
        match self.m.get(i).and_then(|row| row.get(j)) {
            Some(x) => *x,
            None => S::ZERO,
        }
    }

    #[inline(always)]
    pub fn set(&mut self, i: usize, j: usize, x: S) {
        if i < STATES && j < STATES {
            self.m[i][j] = x;
            self.m[j][i] = x;
        }
    }

    #[inline(always)]
    pub fn row(&self, i: usize) -> [S; STATES] {
        match self.m.get(i) {
            Some(row) => *row,
            None => [S::ZERO; STATES],
        }
    }

    /// Other rows for the next digest.
    #[inline(always)]
    pub fn turn(&mut self) {
        self.turn = if self.turn + 1 >= TURNS {
            0
        } else {
            self.turn + 1
        };
    }

    /// (θ, ω) known anew with these variances and tied to nothing.
    #[cold]
    #[inline(never)]
    pub fn release(&mut self, variances: [S; MOTION]) {
        for (i, v) in variances.into_iter().enumerate() {
            for j in 0..STATES {
                self.set(i, j, S::ZERO);
            }
            self.set(i, i, v);
        }
    }

    /// P·hᵀ for the measurement θj − age·ωj.
    #[inline(always)]
    pub fn seen(&self, j: usize, age: S) -> impl Fn(usize) -> S {
        let (angle, speed) = match j {
            0 => (&self.m[0], &self.m[2]),
            _ => (&self.m[1], &self.m[3]),
        };
        move |a| angle[a] - age * speed[a]
    }

    /// P − k·gᵀ − g·kᵀ + k·s·kᵀ, right for every gain, in the rows `from`..`to` of the parameters' block.
    #[inline(never)]
    pub fn update_parameters(&mut self, gain: &Gain<S>, from: usize, to: usize) {
        let Gain { gk, s } = gain;
        for a in from.max(MOTION)..to.min(STATES) {
            let [ga, ka] = gk[a];
            let ga = ga - *s * ka;
            for b in MOTION..=a {
                let [gb, kb] = gk[b];
                let x = self.m[a][b] - kb * ga - ka * gb;
                self.m[a][b] = x;
                self.m[b][a] = x;
            }
        }
    }

    /// The same in rows and columns of (θ, ω): completes the update.
    #[inline(never)]
    pub fn update_motion(&mut self, gain: &Gain<S>, n: usize) {
        let Gain { gk, s } = gain;
        for a in 0..n.min(STATES) {
            let [ga, ka] = gk[a];
            let ga = ga - *s * ka;
            for b in 0..MOTION.min(a + 1) {
                let [gb, kb] = gk[b];
                let x = self.m[a][b] - kb * ga - ka * gb;
                self.m[a][b] = x;
                self.m[b][a] = x;
            }
        }
    }

    /// First part of F·P·Fᵀ: the columns of (θ, ω) of F·P, kept by the caller until [`Covariance::end_predict`].
    #[inline(never)]
    pub fn begin_predict(&self, f: &Transition<S>, n: usize) -> [[S; MOTION]; MOTION] {
        core::array::from_fn(|c| f.apply(&self.m[c], n))
    }

    /// The columns `from`..`to` of the parameters.
    #[inline(never)]
    pub fn predict_columns(&mut self, f: &Transition<S>, n: usize, from: usize, to: usize) {
        for c in from.max(MOTION)..to.min(n).min(STATES) {
            let moved = f.apply(&self.m[c], n);
            for (a, x) in moved.into_iter().enumerate() {
                self.m[c][a] = x;
                self.m[a][c] = x;
            }
        }
    }

    /// Last part: (F·P)·Fᵀ of (θ, ω), and the velocity noise `q` \[(rad/s)²\] as (0,0), (1,0), (1,1).
    #[inline(never)]
    pub fn end_predict(
        &mut self,
        f: &Transition<S>,
        n: usize,
        columns: &[[S; MOTION]; MOTION],
        q: [S; 3],
    ) {
        for a in 0..MOTION {
            let mut x = self.m[a];
            for c in 0..MOTION {
                x[c] = columns[c][a];
            }
            let moved = f.apply(&x, n);
            for b in 0..=a {
                self.m[a][b] = moved[b];
                self.m[b][a] = moved[b];
            }
        }
        self.m[2][2] += q[0];
        self.m[3][2] += q[1];
        self.m[2][3] = self.m[3][2];
        self.m[3][3] += q[2];
    }

    /// State `i` becomes `factor` times as uncertain, its correlations unchanged.
    pub fn scale(&mut self, i: usize, factor: S) {
        if i < STATES {
            for j in 0..STATES {
                self.m[i][j] *= factor;
                self.m[j][i] *= factor;
            }
        }
    }

    /// Every variance is finite and not negative.
    #[inline(never)]
    pub fn is_sound(&self) -> bool {
        // Infinities and NaN survive a sum.
        let (mut sum, mut least) = (S::ZERO, S::ZERO);
        for a in 0..STATES {
            sum += self.m[a][a];
            least = least.min(self.m[a][a]);
        }
        sum.is_finite() && least >= S::ZERO
    }
}

impl<S: Words> Words for Covariance<S> {
    #[inline(always)]
    fn save(&self, put: &mut impl Put) {
        for (i, row) in self.m.iter().enumerate() {
            S::save_all(row.get(..=i).unwrap_or_default(), put);
        }
        self.turn.save(put);
    }
    /// Two rows of the matrix per tick, every row within ten ticks. A word that differs is computed on from, so it cannot hide
    /// until its turn.
    #[inline(always)]
    fn sample(&self, put: &mut impl Put) {
        self.turn.save(put);
        let turn = usize::from(self.turn);
        for i in [turn, turn + usize::from(TURNS)] {
            if let Some(row) = self.m.get(i) {
                row.save(put);
            }
        }
    }
    fn load(get: &mut impl FnMut() -> u32) -> Self {
        // A number is one or two words; the upper half is loaded from the words of its mirror.
        let mut words = [[[0u32; 2]; STATES]; STATES];
        for i in 0..STATES {
            for j in 0..=i {
                let mut used = [0u32; 2];
                let mut n = 0;
                S::load(&mut || {
                    let word = get();
                    if let Some(slot) = used.get_mut(n) {
                        *slot = word;
                    }
                    n += 1;
                    word
                });
                words[i][j] = used;
                words[j][i] = used;
            }
        }
        let m = words.map(|row| {
            row.map(|used| {
                let mut word = used.into_iter();
                S::load(&mut || word.next().unwrap_or(0))
            })
        });
        Covariance {
            m,
            turn: u8::load(get),
        }
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        for i in 0..STATES {
            for j in 0..=i {
                S::names(&Path::Index(&Path::Index(path, i), j), visit);
            }
        }
        u8::names(&Path::Field(path, "turn"), visit);
    }
}
