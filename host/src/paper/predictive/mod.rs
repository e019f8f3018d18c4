//! Paper 003 (Gawthrop and Ronco 2000): friction estimation, predictive pole placement and intermittent control, computed again.
//!
//! | file | what |
//! |---|---|
//! | [`cart`] | Table 2: cart, motor and pendulum |
//! | [`friction`] | figure 5: r_c and the initial state from a record |
//! | [`intermittent`] | the algorithm of Table 1 on a simulated cart: figures 7 to 10 |
//! | [`swingup`] | the experiment the paper could not do |
//! | [`statements`] | what the paper says against what came out |
//! | `charts` | figures 5 and 7 to 10 as SVG |
//! | `animation` | the swing-up as an animated SVG: plan, prediction and what happened |
//!
//! Three settings side by side: as printed, as the authors' archived files have it, and ours, which work with noise.

pub(crate) mod animation;
pub mod cart;
pub(crate) mod charts;
pub mod friction;
pub mod intermittent;
pub mod statements;
pub mod swingup;
