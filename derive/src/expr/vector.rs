//! Vectors of three components and 3×3 matrices of expressions.

use super::{Ex, one, zero};

/// Components in a named frame.
pub type V3 = [Ex; 3];
/// Row by row.
pub type M3 = [V3; 3];

pub const ORIGIN: V3 = [Ex::ZERO; 3];

pub fn vadd(a: V3, b: V3) -> V3 {
    std::array::from_fn(|i| a[i] + b[i])
}
pub fn vsub(a: V3, b: V3) -> V3 {
    std::array::from_fn(|i| a[i] - b[i])
}
pub fn vscale(a: V3, s: Ex) -> V3 {
    a.map(|x| x * s)
}
pub fn dot(a: V3, b: V3) -> Ex {
    (0..3).map(|i| a[i] * b[i]).sum()
}
pub fn cross(a: V3, b: V3) -> V3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
pub fn identity() -> M3 {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { one() } else { zero() }))
}
/// m·v.
pub fn mv(m: &M3, v: V3) -> V3 {
    m.map(|row| dot(row, v))
}
/// mᵀ·v.
pub fn mtv(m: &M3, v: V3) -> V3 {
    std::array::from_fn(|j| (0..3).map(|i| m[i][j] * v[i]).sum())
}
pub fn mm(a: &M3, b: &M3) -> M3 {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Turn by `angle` \[rad\] about a unit vector (Rodrigues): 1 + sin·K + (1 − cos)·K².
pub fn rotation(axis: V3, angle: Ex) -> M3 {
    let [x, y, z] = axis;
    let k: M3 = [[zero(), -z, y], [z, zero(), -x], [-y, x, zero()]];
    let k2 = mm(&k, &k);
    let (s, c) = (angle.sin(), angle.cos());
    let id = identity();
    std::array::from_fn(|i| {
        std::array::from_fn(|j| id[i][j] + s * k[i][j] + (one() - c) * k2[i][j])
    })
}
