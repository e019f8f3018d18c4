//! ROM tables and identification registers of the debug components (RM0433 §60, CoreSight IDs after ADIv5.2 D1).
//!
//! A debugger walks from an access port's BASE through these tables to find processor, breakpoint unit and trace parts. The trace
//! parts are only identified, not modelled; the timestamp generator is left out.

/// Base of the processor's table (access port 0) and of the system's (access port 2).
pub const PROCESSOR: u32 = 0xe00f_e000;
pub const SYSTEM: u32 = 0xe00e_0000;

const ARM: u32 = 0x23b;
const ST: u32 = 0x020;

/// Component class in CIDR1.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Rom = 1,
    Debug = 9,
    Generic = 0xe,
}

/// One component: where it is and what it says about itself.
struct Component {
    base: u32,
    class: Class,
    designer: u32,
    part: u32,
    devtype: u32,
    archid: u32,
}

const fn component(base: u32, class: Class, designer: u32, part: u32, devtype: u32) -> Component {
    Component {
        base,
        class,
        designer,
        part,
        devtype,
        archid: 0,
    }
}

const ETM_ARCH: u32 = 0x4a13;

const COMPONENTS: [Component; 15] = [
    component(PROCESSOR, Class::Rom, ST, 0x450, 0),
    component(0xe00f_f000, Class::Rom, ARM, 0x4c7, 0),
    component(0xe000_e000, Class::Generic, ARM, 0x00c, 0), // SCS
    component(0xe000_1000, Class::Generic, ARM, 0x002, 0), // DWT
    component(0xe000_2000, Class::Generic, ARM, 0x00e, 0), // FPB
    component(0xe000_0000, Class::Generic, ARM, 0x001, 0), // ITM
    Component {
        archid: ETM_ARCH,
        ..component(0xe004_1000, Class::Debug, ARM, 0x975, 0x13)
    },
    component(0xe004_3000, Class::Debug, ARM, 0x906, 0x14), // CTI of the processor
    component(SYSTEM, Class::Rom, ST, 0x450, 0),
    component(0xe00e_3000, Class::Debug, ARM, 0x914, 0x11), // SWO
    component(0xe00e_4000, Class::Debug, ARM, 0x908, 0x12), // funnel before it
    component(0xe00f_0000, Class::Rom, ST, 0x001, 0),
    component(0xe00f_3000, Class::Debug, ARM, 0x908, 0x12), // trace funnel
    component(0xe00f_4000, Class::Debug, ARM, 0x961, 0x32), // trace FIFO
    component(0xe00f_5000, Class::Debug, ARM, 0x912, 0x11), // TPIU
];

/// Entries of each table: (address, present).
const TABLES: [(u32, &[(u32, bool)]); 4] = [
    (
        PROCESSOR,
        &[
            (0xe00f_f000, true),
            (0xe004_1000, true),
            (0xe004_3000, true),
        ],
    ),
    (
        0xe00f_f000,
        &[
            (0xe000_e000, true),
            (0xe000_1000, true),
            (0xe000_2000, true),
            (0xe000_0000, true),
            (0xe004_1000, false),
            (0xe004_2000, false),
        ],
    ),
    (
        SYSTEM,
        &[
            (0xe00e_3000, true),
            (0xe00e_4000, true),
            (0xe00f_0000, true),
        ],
    ),
    (
        0xe00f_0000,
        &[
            (0xe00f_3000, true),
            (0xe00f_4000, true),
            (0xe00f_5000, true),
        ],
    ),
];

/// The word at `address` if it belongs to a table or an identification register.
pub fn read(address: u32) -> Option<u32> {
    let (base, off) = (address & !0xfff, address & 0xfff);
    let c = COMPONENTS.iter().find(|c| c.base == base)?;
    if off >= 0xfb0 {
        return Some(c.identification(off));
    }
    let (_, entries) = TABLES.iter().find(|t| t.0 == base)?;
    let entry = entries.get(off as usize / 4);
    Some(entry.map_or(0, |&(at, present)| {
        at.wrapping_sub(base) & !0xfff | 2 | u32::from(present)
    }))
}

impl Component {
    /// DEVARCH, DEVTYPE, PIDR0–7, CIDR0–3.
    fn identification(&self, off: u32) -> u32 {
        match off {
            0xfbc if self.archid != 0 => ARM << 21 | 1 << 20 | self.archid,
            0xfcc => self.devtype,
            0xfd0 if self.designer == ARM => 4, // continuation codes of JEP106
            0xfe0 => self.part & 0xff,
            0xfe4 => (self.designer & 0xf) << 4 | self.part >> 8,
            0xfe8 => 8 | self.designer >> 4 & 7,
            0xff0 => 0x0d,
            0xff4 => (self.class as u32) << 4,
            0xff8 => 0x05,
            0xffc => 0xb1,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses of the components a debugger finds from `base` on.
    fn walk(base: u32) -> Vec<u32> {
        assert_eq!(read(base + 0xff0), Some(0x0d), "{base:#x}");
        let mut found = vec![base];
        if read(base + 0xff4) == Some(0x10) {
            for i in 0.. {
                let entry = read(base + 4 * i).unwrap();
                if entry == 0 {
                    break;
                }
                if entry & 1 != 0 {
                    found.extend(walk(base.wrapping_add(entry & !0xfff)));
                }
            }
        }
        found
    }

    #[test]
    fn every_component_is_found_from_the_two_bases() {
        let found = [walk(PROCESSOR), walk(SYSTEM)].concat();
        assert_eq!(found.len(), COMPONENTS.len());
        for c in &COMPONENTS {
            assert!(found.contains(&c.base), "{:#x}", c.base);
        }
    }

    #[test]
    fn the_breakpoint_unit_says_what_it_is() {
        let id: Vec<u32> = [0xfe0, 0xfe4, 0xfe8, 0xfd0, 0xff4]
            .map(|o| read(0xe000_2000 + o).unwrap())
            .to_vec();
        assert_eq!(id, [0x0e, 0xb0, 0x0b, 4, 0xe0]);
        assert_eq!(read(0xe000_2000), None, "its registers are its own");
    }
}
