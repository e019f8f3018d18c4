//! Bond graphs: a physical system as components and power bonds; causality, state equations, sensitivities and code follow.
//!
//! ```text
//! description (TOML) or Builder ─► Graph ─► causality (SCAP) ─► Plan ─► E(x)·ẋ = f(x, u)
//!                                                                 ├─► simulate, sensitivities (dual numbers)
//!                                                                 └─► equations (text, LaTeX), Rust, drawing (SVG)
//! ```
//!
//! Every constitutive relation is a [`formula::Formula`] evaluated in any [`stribeck_core::number::scalar::Scalar`], so the sensitivity
//! bond graph of paper 003 (each bond carries effort, flow and their derivatives) is this graph evaluated in dual numbers: no second graph
//! is built. Energy stores in derivative causality stay: their rates enter through E(x). Algebraic loops are torn and solved by Newton's
//! method.
//!
//! | file | what |
//! |---|---|
//! | [`formula`] | gains and laws as text: parsed once, evaluated in any scalar |
//! | [`graph`] | components, bonds, the builder and its checks |
//! | [`describe`] | the TOML description, with sub-graphs |
//! | `causality` | strokes, states, order of computation |
//! | [`equations`] | E(x)·ẋ = f(x, u) in any scalar |
//! | [`simulate`] | motion and sensitivities |
//! | [`follow`] | the same along a record of the inputs, implicit: stiff systems too |
//! | [`estimate`] | parameters and initial states from a record of inputs and outputs |
//! | [`record`] | the same equations as text, LaTeX and straight-line Rust |
//! | `draw` | the causal graph as SVG |

pub(crate) mod causality;
pub mod describe;
pub(crate) mod draw;
pub mod equations;
pub mod estimate;
pub mod follow;
pub mod formula;
pub mod graph;
pub mod record;
pub mod simulate;

/// Descriptions that come with the program: name and TOML.
pub const EXAMPLES: [(&str, &str); 5] = [
    ("rlc", include_str!("examples/rlc.toml")),
    ("motor", include_str!("examples/motor.toml")),
    ("two-tanks", include_str!("examples/two-tanks.toml")),
    ("cart", include_str!("examples/cart.toml")),
    ("cart-pendulum", include_str!("examples/cart-pendulum.toml")),
];
