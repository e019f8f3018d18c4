//! Joint reactions: the force every joint transmits, from weight and inertia of all that it carries. Friction needs it.

use crate::expr::*;
use crate::kane::Kane;
use crate::mechanism::{JointKind, Mechanism};

/// Forces \[N\], accelerations as symbols.
#[derive(Clone, Debug)]
pub struct Reactions {
    /// m·(a − g) of each body, in its own frame.
    pub load: Vec<V3>,
    /// The same summed over everything the joint carries, in the frame of its body.
    pub force: Vec<V3>,
    /// Magnitude \[N\] across which a joint rubs: all of it in a bearing; in a slide what is across its axis.
    pub normal: Vec<Ex>,
}

pub fn reactions(m: &Mechanism, kane: &Kane) -> Reactions {
    let load: Vec<V3> = m
        .bodies
        .iter()
        .enumerate()
        .map(|(i, b)| {
            vscale(
                vsub(kane.acceleration[i], m.express(m.gravity, None, i)),
                b.mass,
            )
        })
        .collect();
    let mut force = load.clone();
    for i in (0..m.bodies.len()).rev() {
        if let Some(p) = m.bodies[i].parent {
            let outer = if m.bodies[i].turns_in == Some(p) {
                mv(&m.bodies[i].turn, force[i])
            } else {
                mtv(&m.to_ground(p), mv(&m.to_ground(i), force[i]))
            };
            force[p] = vadd(force[p], outer);
        }
    }
    let normal = m
        .bodies
        .iter()
        .zip(&force)
        .map(|(b, f)| match b.joint {
            JointKind::Revolute => dot(*f, *f).sqrt(),
            JointKind::Prismatic => {
                let across = cross(b.axis, *f);
                dot(across, across).sqrt()
            }
        })
        .collect();
    Reactions {
        load,
        force,
        normal,
    }
}
