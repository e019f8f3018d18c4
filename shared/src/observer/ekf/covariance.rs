//! Covariance of the filter's ten states (θ0 θ1 ω0 ω1 μd0 μv0 μd1 μv1 d0 d1) and its two operations.
//!
//! Both keep the matrix symmetric by construction: only the lower triangle is computed, the upper one mirrors it. The
//! measurement update holds for any gain, so states can be considered (gain 0) without the covariance losing
//! its meaning. `N` is the number of states in use (8 without drag): the rest stay zero.

use crate::scalar::Scalar;
use crate::state::{Path, State};

/// States of the largest filter.
pub const STATES: usize = 10;

/// A symmetric matrix; the words of its state are its lower triangle.
#[derive(Clone, Copy, Debug)]
pub struct Covariance<S>([[S; STATES]; STATES]);

/// F of (θ, ω) over one cycle: δω' = velocity·δω + forced, δθ' = δθ + travel·δω + ½·span·forced.
pub struct Transition<S> {
    /// ∂ω'/∂ω.
    pub velocity: [[S; 2]; 2],
    /// ∂θ'/∂ω [s].
    pub travel: [[S; 2]; 2],
    /// ∂ω'/∂θ [1/s].
    pub stiffness: [[S; 2]; 2],
    /// ∂ω'/∂(torque of each joint) [1/(kg·m²)·s].
    pub torque: [[S; 2]; 2],
    /// ∂f/∂(μd, μv, d) of each joint.
    pub regressor: [[S; 3]; 2],
    /// Half a cycle [s].
    pub half_span: S,
}

impl<S: Scalar> Covariance<S> {
    /// Independent states with these variances; parameters known.
    pub fn diagonal(variances: [S; 4]) -> Self {
        let mut m = [[S::ZERO; STATES]; STATES];
        for (i, v) in variances.into_iter().enumerate() {
            m[i][i] = v;
        }
        Covariance(m)
    }

    /// Entry (i, j); zero outside the matrix.
    #[inline(always)]
    pub fn at(&self, i: usize, j: usize) -> S {
        match self.0.get(i).and_then(|row| row.get(j)) {
            Some(x) => *x,
            None => S::ZERO,
        }
    }

    #[inline(always)]
    pub fn set(&mut self, i: usize, j: usize, x: S) {
        if i < STATES && j < STATES {
            self.0[i][j] = x;
            self.0[j][i] = x;
        }
    }

    #[inline(always)]
    pub fn row(&self, i: usize) -> [S; STATES] {
        match self.0.get(i) {
            Some(row) => *row,
            None => [S::ZERO; STATES],
        }
    }

    /// P·hᵀ for the measurement θj − age·ωj.
    #[inline(always)]
    pub fn seen<const N: usize>(&self, j: usize, age: S) -> [S; N] {
        let (angle, speed) = (self.row(j), self.row(2 + j));
        core::array::from_fn(|a| angle[a] - age * speed[a])
    }

    /// P − k·gᵀ − g·kᵀ + k·s·kᵀ with g = P·hᵀ and s = h·g + R: right for every gain k.
    #[inline(always)]
    pub fn update<const N: usize>(&mut self, g: &[S; N], k: &[S; N], s: S) {
        for a in 0..N {
            let ga = g[a] - s * k[a];
            for b in 0..=a {
                let x = self.0[a][b] - k[b] * ga - k[a] * g[b];
                self.0[a][b] = x;
                self.0[b][a] = x;
            }
        }
    }

    /// F·P·Fᵀ.
    #[inline(always)]
    pub fn predict<const N: usize>(&mut self, f: &Transition<S>) {
        let m = &mut self.0;
        // Rows θ, ω of F·P.
        let mut fp = [[S::ZERO; N]; 4];
        for c in 0..N {
            let column = core::array::from_fn(|a| m[a][c]);
            let [t0, t1, w0, w1] = transit::<S, N>(f, &column);
            fp[0][c] = t0;
            fp[1][c] = t1;
            fp[2][c] = w0;
            fp[3][c] = w1;
        }
        // (F·P)·Fᵀ: the parameters' columns are finished, the others move the same way.
        for a in 0..4 {
            let moved = transit::<S, N>(f, &fp[a]);
            for b in 0..=a {
                m[a][b] = moved[b];
                m[b][a] = moved[b];
            }
            for c in 4..N {
                m[a][c] = fp[a][c];
                m[c][a] = fp[a][c];
            }
        }
    }

    /// Add the velocity noise [(rad/s)²].
    #[inline(always)]
    pub fn add_velocity_noise(&mut self, q: [S; 3]) {
        self.0[2][2] += q[0];
        self.0[3][2] += q[1];
        self.0[2][3] = self.0[3][2];
        self.0[3][3] += q[2];
    }

    /// State `i` becomes `factor` times as uncertain, its correlations unchanged.
    pub fn scale(&mut self, i: usize, factor: S) {
        if i < STATES {
            for j in 0..STATES {
                self.0[i][j] *= factor;
                self.0[j][i] *= factor;
            }
        }
    }

    /// Every variance in use is finite and not negative.
    pub fn is_sound<const N: usize>(&self) -> bool {
        let mut sound = true;
        for a in 0..N {
            let x = self.0[a][a];
            sound &= x.is_finite() && x >= S::ZERO;
        }
        sound
    }
}

/// (θ, ω) of F·x for one column x = (θ, ω, parameters).
#[inline(always)]
fn transit<S: Scalar, const N: usize>(f: &Transition<S>, x: &[S; N]) -> [S; 4] {
    let mut torque = [
        f.regressor[0][0] * x[4] + f.regressor[0][1] * x[5],
        f.regressor[1][0] * x[6] + f.regressor[1][1] * x[7],
    ];
    if N == STATES {
        torque[0] += f.regressor[0][2] * x[N - 2];
        torque[1] += f.regressor[1][2] * x[N - 1];
    }
    let forced = |i: usize| {
        f.stiffness[i][0] * x[0] + f.stiffness[i][1] * x[1]
            - f.torque[i][0] * torque[0]
            - f.torque[i][1] * torque[1]
    };
    let (f0, f1) = (forced(0), forced(1));
    [
        x[0] + f.travel[0][0] * x[2] + f.travel[0][1] * x[3] + f.half_span * f0,
        x[1] + f.travel[1][0] * x[2] + f.travel[1][1] * x[3] + f.half_span * f1,
        f.velocity[0][0] * x[2] + f.velocity[0][1] * x[3] + f0,
        f.velocity[1][0] * x[2] + f.velocity[1][1] * x[3] + f1,
    ]
}

impl<S: State> State for Covariance<S> {
    #[inline(always)]
    fn save(&self, put: &mut impl FnMut(u32)) {
        for (i, row) in self.0.iter().enumerate() {
            for x in row.iter().take(i + 1) {
                x.save(put);
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
        Covariance(words.map(|row| {
            row.map(|used| {
                let mut word = used.into_iter();
                S::load(&mut || word.next().unwrap_or(0))
            })
        }))
    }
    fn names(path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>)) {
        for i in 0..STATES {
            for j in 0..=i {
                S::names(&Path::Index(&Path::Index(path, i), j), visit);
            }
        }
    }
}
