//! Steps of the shooting problem from its linearisation: with the gaps between segments closed ([`Condensed`]) or left
//! open ([`Loose`]). Small dense least squares whatever the length of the record; no integration happens here.

use crate::identify::fit::shooting::{Known, Pass, Point};
use crate::identify::fit::triangle::Triangle;
use crate::identify::model::parametric::Model;

/// A solved Gauss–Newton step in (first state, parameters).
pub struct Condensed {
    pub triangle: Triangle,
    /// Φ, Ψ, c of every node.
    chain: Vec<Chain>,
}

#[derive(Clone)]
struct Chain {
    phi: [[f64; 4]; 4],
    psi: Vec<[f64; 4]>,
    c: [f64; 4],
}

/// All segments on their own: the parameters they share, and the start state that suits each of them best.
pub struct Loose {
    pub triangle: Triangle,
    /// Per segment, the triangular equations of its start state in (start state, parameters).
    heads: Vec<Vec<f64>>,
    ns: usize,
}

impl Pass {
    /// Leave the gaps between segments open.
    pub fn loosen(&self, ns: usize, np: usize, known: &[Known], x: &[f64]) -> Loose {
        let width = ns + np + 1;
        let mut triangle = Triangle::new(np);
        let mut heads = Vec::with_capacity(self.segments.len());
        for seg in &self.segments {
            let mut head = Vec::with_capacity(ns * width);
            for (i, eq) in seg.rows.factor().enumerate() {
                if i < ns {
                    head.extend_from_slice(eq);
                } else {
                    triangle.add(&mut eq[ns..].to_vec());
                }
            }
            heads.push(head);
        }
        for k in known {
            triangle.add(&mut k.row(0, np, x));
        }
        Loose {
            triangle,
            heads,
            ns,
        }
    }

    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Express everything by the first state and the parameters.
    pub fn condense(&self, ns: usize, np: usize, known: &[Known], x: &[f64]) -> Condensed {
        let n = ns + np;
        let mut triangle = Triangle::new(n);
        let mut chain = Vec::with_capacity(self.segments.len() + 1);
        let mut phi = [[0.0; 4]; 4];
        for (i, row) in phi.iter_mut().enumerate() {
            row[i] = 1.0;
        }
        let mut link = Chain {
            phi,
            psi: vec![[0.0; 4]; np],
            c: [0.0; 4],
        };
        for seg in &self.segments {
            let mut row = vec![0.0; n + 1];
            for eq in seg.rows.factor() {
                let (a, b) = (&eq[..ns], &eq[ns..ns + np]);
                for c in 0..ns {
                    row[c] = (0..ns).map(|i| a[i] * link.phi[i][c]).sum();
                }
                for c in 0..np {
                    row[ns + c] = b[c] + (0..ns).map(|i| a[i] * link.psi[c][i]).sum::<f64>();
                }
                row[n] = eq[n] - (0..ns).map(|i| a[i] * link.c[i]).sum::<f64>();
                triangle.add(&mut row);
            }
            let next = Chain {
                phi: std::array::from_fn(|i| {
                    std::array::from_fn(|c| {
                        (0..ns).map(|m| seg.by_state[i][m] * link.phi[m][c]).sum()
                    })
                }),
                psi: (0..np)
                    .map(|c| {
                        std::array::from_fn(|i| {
                            seg.by_param[c][i]
                                + (0..ns)
                                    .map(|m| seg.by_state[i][m] * link.psi[c][m])
                                    .sum::<f64>()
                        })
                    })
                    .collect(),
                c: std::array::from_fn(|i| {
                    seg.defect[i] + (0..ns).map(|m| seg.by_state[i][m] * link.c[m]).sum::<f64>()
                }),
            };
            chain.push(std::mem::replace(&mut link, next));
        }
        for k in known {
            triangle.add(&mut k.row(ns, np, x));
        }
        Condensed { triangle, chain }
    }
}

impl Loose {
    /// `point` with the parameters moved by `dp`, every start state as suits it.
    pub fn moved(&self, model: &Model, point: &Point, dp: &[f64]) -> Point {
        let ns = self.ns;
        let width = ns + dp.len() + 1;
        let nodes = point.nodes.iter().zip(&self.heads).map(|(node, head)| {
            let mut ds = [0.0; 4];
            for i in (0..ns).rev() {
                let row = &head[i * width..(i + 1) * width];
                let known: f64 = (i + 1..ns).map(|c| row[c] * ds[c]).sum::<f64>()
                    + dp.iter().zip(&row[ns..]).map(|(d, r)| d * r).sum::<f64>();
                if row[i].abs() > 1e-9 * head[0].abs() {
                    ds[i] = (row[width - 1] - known) / row[i];
                }
            }
            std::array::from_fn(|i| node[i] + ds[i])
        });
        Point {
            nodes: nodes.collect(),
            x: model.stepped(&point.x, dp),
        }
    }
}

impl Condensed {
    /// `point` moved by `fraction` of a step in (δs0, δp), every node by its own linearised amount.
    pub fn moved(&self, model: &Model, point: &Point, step: &[f64], fraction: f64) -> Point {
        let ns = 2 * model.joints();
        let step: Vec<f64> = step.iter().map(|d| fraction * d).collect();
        let (ds, dp) = step.split_at(ns);
        let nodes = point
            .nodes
            .iter()
            .zip(&self.chain)
            .map(|(node, link)| {
                std::array::from_fn(|i| {
                    let d = fraction * link.c[i]
                        + (0..ns).map(|c| link.phi[i][c] * ds[c]).sum::<f64>()
                        + dp.iter()
                            .zip(&link.psi)
                            .map(|(p, col)| p * col[i])
                            .sum::<f64>();
                    node[i] + if i < ns { d } else { 0.0 }
                })
            })
            .collect();
        Point {
            nodes,
            x: model.stepped(&point.x, dp),
        }
    }
}
