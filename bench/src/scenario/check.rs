//! Ranges of a scenario's values; the first one out of range is named by its key.

use super::*;

impl Scenario {
    pub(super) fn check(&self, path: &str) -> Result<(), ScenarioError> {
        let require = |ok: bool, key: &str, found: &dyn std::fmt::Debug, expected: &'static str| {
            if ok {
                return Ok(());
            }
            Err(ScenarioError::Value {
                path: path.into(),
                key: key.into(),
                found: format!("{found:?}"),
                expected,
            })
        };
        require(
            (1e-3..=1e5).contains(&self.seconds),
            "seconds",
            &self.seconds,
            "0.001 to 100000",
        )?;
        let cpi = self.cycles_per_instruction;
        require(
            (0.1..=100.0).contains(&cpi),
            "cycles_per_instruction",
            &cpi,
            "0.1 to 100",
        )?;
        let p = &self.plant;
        require(
            p.geometry.validate().is_ok(),
            "plant.geometry",
            &p.geometry,
            "a geometry the model accepts",
        )?;
        require(
            p.angles.iter().all(|a| a.is_finite()),
            "plant.angles",
            &p.angles,
            "finite angles [rad]",
        )?;
        let lift_ok = 0.0 <= p.lift_s[0] && p.lift_s[0] < p.lift_s[1] && p.lift_s[1] <= p.release_s;
        require(
            lift_ok,
            "plant.lift_s",
            &p.lift_s,
            "start < end ≤ release_s",
        )?;
        require(
            p.counts_per_turn.iter().all(|&n| n > 0),
            "plant.counts_per_turn",
            &p.counts_per_turn,
            "at least 1",
        )?;
        for f in &p.friction {
            require(
                f.0.vt > 0.0 && f.0.fnt > 0.0,
                "plant.friction",
                f,
                "vt > 0 and fnt > 0",
            )?;
        }
        require(
            (0.0..1e4).contains(&p.noise_counts),
            "plant.noise_counts",
            &p.noise_counts,
            "0 to 10000",
        )?;
        if let Some(d) = &self.drive {
            require(
                d.motor.validate(&p.geometry).is_ok(),
                "drive.motor",
                &d.motor,
                "a motor the model accepts",
            )?;
            require(
                (0.0..1.0).contains(&d.inductance),
                "drive.inductance",
                &d.inductance,
                "0 to 1 [H]",
            )?;
        }
        for (key, ppm) in [
            ("board.hsi_error_ppm", self.board.hsi_error_ppm),
            ("board.hsi48_error_ppm", self.board.hsi48_error_ppm),
        ] {
            require(ppm.abs() <= 50_000, key, &ppm, "-50000 to 50000")?;
        }
        for (i, e) in self.events.iter().enumerate() {
            let key = |k: &str| format!("event[{i}].{k}");
            require(
                e.at_s >= 0.0 && e.at_s.is_finite(),
                &key("at_s"),
                &e.at_s,
                "a time ≥ 0 [s]",
            )?;
            use Action::*;
            match &e.action {
                LostCounts { joint, .. }
                | Noise { joint, .. }
                | SwapChannels { joint }
                | Cut { joint, .. }
                | Reconnect { joint }
                | Push { joint, .. } => {
                    require(*joint < JOINTS, &key("joint"), joint, "0 or 1")?;
                }
                BridgeFault { hold_s }
                | SupplySag { hold_s, .. }
                | LimitSwitch { hold_s }
                | MotorStalls { hold_s } => {
                    require(
                        self.drive.is_some(),
                        "drive",
                        &self.drive,
                        "a [drive] section",
                    )?;
                    require(
                        (0.0..1e6).contains(hold_s),
                        &key("hold_s"),
                        hold_s,
                        "0 to 1000000",
                    )?;
                }
                Send { hex } => require(
                    unhex(hex).is_some(),
                    &key("hex"),
                    hex,
                    "pairs of hexadecimal digits",
                )?,
                BitFlip {
                    address,
                    symbol,
                    bit,
                    ..
                } => {
                    require(*bit < 8, &key("bit"), bit, "0 to 7")?;
                    require(
                        address.is_some() != symbol.is_some(),
                        &key("address"),
                        address,
                        "either address or symbol",
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
