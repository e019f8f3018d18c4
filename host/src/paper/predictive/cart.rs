//! Cart, geared motor and pendulum of paper 003 §5: Table 2, the truth with five states and the controller's model with four.
//!
//! q = (x cart \[m\], α from upright \[rad\]), K = k_m/(r·k_g), N = 1/(r·k_g):
//!
//! ```text
//! (m_c + m_p + j_a·N²)·v̇ + m_p·l·cosα·ω̇ = K·i − r_c·v + m_p·l·sinα·ω²
//! m_p·l·cosα·v̇ + (j_p + m_p·l²)·ω̇ = m_p·g·l·sinα
//! l_a·i̇ = u − r_a·i − K·v                        four states: i = (u − K·v)/r_a
//! ```

use stribeck_core::control::predict::{Dynamics, STATES, Slopes};
use stribeck_core::number::dual::Dual;
use stribeck_core::number::scalar::Scalar;

/// Table 2 and what it leaves out. SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rig {
    pub l_a: f64,
    pub j_a: f64,
    pub r_a: f64,
    /// Missing in Table 2.
    pub k_m: f64,
    pub k_g: f64,
    pub r: f64,
    pub m_c: f64,
    pub m_p: f64,
    /// Pivot to centre of mass.
    pub l: f64,
    pub j_p: f64,
    pub r_c: f64,
    pub g: f64,
}

impl Rig {
    /// Table 2 with the printed length as the whole pendulum's: its centre of mass at the half of it.
    pub fn table_2() -> Rig {
        let (m_p, l_p) = (0.210, 0.61);
        Rig {
            l_a: 0.18e-3,
            j_a: 3.87e-7,
            r_a: 2.6,
            k_m: 0.00767,
            k_g: 1.0 / 3.7,
            r: 0.635e-2,
            m_c: 0.7429,
            m_p,
            l: 0.5 * l_p,
            j_p: m_p * l_p * l_p / 12.0,
            r_c: 7.198,
            g: 9.81,
        }
    }

    /// With the printed length taken for the distance to the centre of mass, as the authors' archived model does.
    pub fn archive() -> Rig {
        Rig {
            l: 0.61,
            ..Rig::table_2()
        }
    }

    /// Newtons per ampere at the cart.
    pub fn force_per_ampere(&self) -> f64 {
        self.k_m / (self.r * self.k_g)
    }

    /// Mass of cart, pendulum and rotor as the cart feels it \[kg\].
    pub fn mass(&self) -> f64 {
        let n = 1.0 / (self.r * self.k_g);
        self.m_c + self.m_p + self.j_a * n * n
    }

    /// The controller's model in any scalar, with its own idea of the friction.
    pub fn model<S: Scalar>(&self, r_c: f64) -> Cart<S> {
        let k = self.force_per_ampere();
        Cart {
            mass: S::lit(self.mass()),
            couple: S::lit(self.m_p * self.l),
            inertia: S::lit(self.j_p + self.m_p * self.l * self.l),
            weight: S::lit(self.m_p * self.g * self.l),
            per_volt: S::lit(k / self.r_a),
            back_emf: S::lit(k * k / self.r_a),
            r_c: S::lit(r_c),
        }
    }

    /// ẋ of the truth (x, α, v, ω, i).
    pub fn rates(&self, y: &[f64; 5], u: f64) -> [f64; 5] {
        let k = self.force_per_ampere();
        let [_, alpha, v, w, i] = *y;
        let model: Cart<f64> = self.model(self.r_c);
        let a = model.pushed([alpha, v, w], k * i - self.r_c * v);
        [v, w, a[0], a[1], (u - self.r_a * i - k * v) / self.l_a]
    }
}

/// The four-state model: constants of the equations above.
#[derive(Clone, Copy, Debug)]
pub struct Cart<S> {
    mass: S,
    couple: S,
    inertia: S,
    weight: S,
    /// N/V and N·s/m.
    per_volt: S,
    back_emf: S,
    /// Friction \[N·s/m\]: the parameter that is estimated while it runs.
    pub r_c: S,
}

impl<S: Scalar> Cart<S> {
    /// (v̇, ω̇) for a force on the cart.
    fn pushed(&self, [alpha, _, w]: [S; 3], force: S) -> [S; 2] {
        let (sin, cos) = alpha.sin_cos();
        let b0 = force + self.couple * sin * w * w;
        let b1 = self.weight * sin;
        let h = self.couple * cos;
        let inverse = S::ONE / (self.mass * self.inertia - h * h);
        [
            (b0 * self.inertia - h * b1) * inverse,
            (b1 * self.mass - h * b0) * inverse,
        ]
    }
}

impl<S: Scalar> Dynamics<S> for Cart<S> {
    fn acceleration(&self, x: &[S; STATES], u: S) -> [S; 2] {
        let [_, alpha, v, w] = *x;
        self.pushed(
            [alpha, v, w],
            self.per_volt * u - self.back_emf * v - self.r_c * v,
        )
    }

    fn slopes(&self, x: &[S; STATES], u: S) -> Slopes<S> {
        // Four states, the input, the friction.
        type D<S> = Dual<S, 6>;
        let lift = D::<S>::constant;
        let model = Cart {
            mass: lift(self.mass),
            couple: lift(self.couple),
            inertia: lift(self.inertia),
            weight: lift(self.weight),
            per_volt: lift(self.per_volt),
            back_emf: lift(self.back_emf),
            r_c: D::variable(self.r_c, 5),
        };
        let y = core::array::from_fn(|i| D::variable(x[i], i));
        let a = model.acceleration(&y, D::variable(u, 4));
        Slopes {
            acceleration: a.map(|a| a.re),
            by_state: a.map(|a| [a.du[0], a.du[1], a.du[2], a.du[3]]),
            by_input: a.map(|a| a.du[4]),
            by_parameter: a.map(|a| a.du[5]),
        }
    }

    fn with_parameter(&self, r_c: S) -> Self {
        Cart { r_c, ..*self }
    }
}
