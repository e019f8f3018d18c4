//! Halting debug as the debugger sees it through the access port, in virtual time: breakpoints, steps, core registers, vector catch,
//! what stands still while the processor does, and a chip that is programmed and started from outside.

mod harness;

use harness::firmware;
use stribeck_bench::debug::access::Size;
use stribeck_bench::debug::core::{DCRDR, DCRSR, DEMCR, DFSR, DHCSR};
use stribeck_bench::{Bench, Program, Scenario};

const S_HALT: u32 = 1 << 17;
const S_LOCKUP: u32 = 1 << 19;
const S_RESET_ST: u32 = 1 << 25;
const FPB: u32 = 0xe000_2000;
const CYCCNT: u32 = 0xe000_1004;
/// Counter of the firmware's clock, 16 bits [µs].
const TIM3_CNT: u32 = 0x4000_0424;
/// DBGMCU_APB1LFZ1: bit 1 stops TIM3 while halted.
const APB1LFZ1: u32 = 0x5c00_103c;
/// DBGMCU_APB4FZ1 as the processor sees it; bit 18 stops the watchdog while halted.
const APB4FZ1: u32 = 0x5c00_1054;

/// A bench with a probe fitted and its debugger's hand on it.
struct Debugger(Bench);

impl Debugger {
    fn new(program: std::rc::Rc<Program>) -> Debugger {
        let mut bench = Bench::new(program, &Scenario::default()).unwrap();
        bench.machine.chip_mut().debug.probe_fitted = true;
        Debugger(bench)
    }

    /// The firmware after a tenth of a second, debug enabled.
    fn attached() -> Debugger {
        let mut d = Debugger::new(firmware());
        d.0.run_until(0.1);
        d.write(DHCSR, 0xa05f_0001);
        d
    }

    fn read(&mut self, address: u32) -> u32 {
        self.0.machine.debug_read_one(address, Size::Word).unwrap()
    }

    fn write(&mut self, address: u32, v: u32) {
        let m = &mut self.0.machine;
        m.debug_write_one(address, v, Size::Word).unwrap();
    }

    fn register(&mut self, number: u32) -> u32 {
        self.write(DCRSR, number);
        self.read(DCRDR)
    }

    fn set_register(&mut self, number: u32, v: u32) {
        self.write(DCRDR, v);
        self.write(DCRSR, 1 << 16 | number);
    }

    fn halted(&mut self) -> bool {
        self.read(DHCSR) & S_HALT != 0
    }

    /// Breakpoint 0 at `address`; 0 takes it away.
    fn breakpoint(&mut self, address: u32) {
        self.write(FPB, 3);
        self.write(FPB + 8, if address == 0 { 0 } else { address | 1 });
    }

    fn run_to(&mut self, address: u32) {
        self.breakpoint(address);
        self.write(DHCSR, 0xa05f_0001);
        let end = self.0.seconds() + 0.01;
        self.0.run_until(end);
        assert!(self.halted(), "never at {address:#x}");
        assert_eq!(self.register(15), address);
    }

    /// One instruction with interrupts masked, past the breakpoint.
    fn step(&mut self) {
        self.write(FPB, 2);
        self.write(DHCSR, 0xa05f_000b);
        self.write(DHCSR, 0xa05f_000d);
        assert!(self.halted());
        self.write(FPB, 3);
    }

    fn registers(&mut self) -> Vec<u32> {
        let fpu = (0x40..0x60).chain([33]);
        (0..=20)
            .filter(|&n| n != 19)
            .chain(fpu)
            .map(|n| self.register(n))
            .collect()
    }
}

/// Where the tick's handler begins.
fn tick() -> u32 {
    firmware().address_of("TIM7").unwrap() & !1
}

#[test]
fn a_breakpoint_in_the_tick_stops_before_it_and_the_program_goes_on() {
    let mut d = Debugger::attached();
    d.run_to(tick());
    assert_eq!(d.read(DFSR), 2, "breakpoint");
    d.write(DFSR, 0x1f);
    assert_eq!(d.register(16) & 0x1ff, 71, "in interrupt 55");
    let ticks = d.0.machine.chip().profile.ticks.len();
    d.step();
    assert_eq!(d.register(15), tick() + 2, "push is two bytes");
    assert_eq!(d.read(DFSR), 1, "step");
    d.run_to(tick());
    assert_eq!(
        d.0.machine.chip().profile.ticks.len(),
        ticks + 1,
        "one tick later"
    );
    d.breakpoint(0);
    d.write(DHCSR, 0xa05f_0001);
    d.0.run_for(0.01);
    assert!(!d.halted());
    assert!(d.0.machine.chip().profile.ticks.len() >= ticks + 90);
    assert!(d.0.machine.crashes.is_empty());
}

#[test]
fn a_tick_stepped_instruction_by_instruction_ends_as_one_that_runs() {
    let (mut stepped, mut run) = (Debugger::attached(), Debugger::attached());
    stepped.run_to(tick());
    run.run_to(tick());
    assert_eq!(stepped.registers(), run.registers());
    let mut steps = 0;
    while stepped.register(16) & 0x1ff != 0 {
        stepped.step();
        steps += 1;
        assert!(steps < 20_000, "the handler never returns");
    }
    let back = stepped.register(15);
    run.run_to(back);
    assert_eq!(stepped.registers(), run.registers());
    assert!(steps > 1_000, "{steps} steps");
}

#[test]
fn core_registers_are_written_and_read_back() {
    let mut d = Debugger::attached();
    d.write(DHCSR, 0xa05f_0003);
    let before = d.registers();
    for (number, v) in [
        (0, 0x1234_5678),
        (12, 0xdead_beef),
        (17, 0x2000_1000),
        (0x5f, 0x3f80_0000),
    ] {
        d.set_register(number, v);
        assert_eq!(d.register(number), v, "register {number}");
    }
    d.set_register(20, 0x0000_2001);
    assert_eq!(d.register(20) & 0xffff, 0x2001, "BASEPRI and PRIMASK");
    assert_eq!(d.register(13), 0x2000_1000, "the main stack is in use");
    assert_ne!(before, d.registers());
}

#[test]
fn halted_the_counter_and_the_watchdog_stand_still_and_the_timers_go_on() {
    let mut d = Debugger::attached();
    d.write(DHCSR, 0xa05f_0003);
    let (cycles, clock) = (d.read(CYCCNT), d.read(TIM3_CNT));
    d.0.run_for(2.0);
    assert_eq!(d.read(CYCCNT), cycles);
    assert!(
        d.0.machine.resets.is_empty(),
        "four time-outs of the watchdog"
    );
    let passed = d.read(TIM3_CNT).wrapping_sub(clock) & 0xffff;
    assert_eq!(passed, 2_000_000 & 0xffff, "the timers go on [µs]");
    d.write(DHCSR, 0xa05f_0001);
    d.0.run_for(0.2);
    assert!(d.0.machine.resets.is_empty(), "fed again in time");

    // A timer with its freeze bit stands still as well, and goes on where it was.
    d.write(DHCSR, 0xa05f_0003);
    d.write(APB1LFZ1, 1 << 1);
    let clock = d.read(TIM3_CNT);
    d.0.run_for(0.01);
    assert_eq!(d.read(TIM3_CNT), clock);
    d.write(APB1LFZ1, 0);
    d.0.run_for(0.01);
    assert_eq!(d.read(TIM3_CNT).wrapping_sub(clock) & 0xffff, 10_000);
    d.write(DHCSR, 0xa05f_0001);
    d.0.run_for(0.2);

    // Without the freeze bit it is the end of the halt.
    let frozen = d.read(APB4FZ1);
    assert_eq!(frozen >> 18 & 1, 1, "the firmware asks for it");
    d.write(APB4FZ1, frozen & !(1 << 18));
    d.write(DHCSR, 0xa05f_0003);
    d.0.run_for(1.0);
    assert_eq!(d.0.machine.resets.len(), 1);
}

#[test]
fn a_reset_is_caught_unless_the_catch_is_given_up() {
    for catch in [true, false] {
        let mut d = Debugger::attached();
        let demcr = d.read(DEMCR);
        d.write(DEMCR, if catch { demcr | 1 } else { demcr & !1 });
        d.read(DHCSR);
        d.write(0xe000_ed0c, 0x05fa_0004);
        let state = d.read(DHCSR);
        assert_eq!(state & S_RESET_ST, S_RESET_ST);
        assert_eq!(state & S_HALT != 0, catch);
        if catch {
            let reset = d.read(0x0800_0004);
            assert_eq!(d.register(15), reset & !1, "at the reset vector");
            assert_eq!(d.read(DFSR), 8);
        }
        d.write(DHCSR, 0xa05f_0001);
        d.0.run_for(0.1);
        assert!(d.0.usb_ready(), "it starts");
    }
}

#[test]
fn under_reset_nothing_runs() {
    let mut d = Debugger::attached();
    d.0.machine.hold_reset(true);
    let instructions = d.0.machine.chip().instructions;
    d.0.run_for(0.05);
    assert_eq!(d.0.machine.chip().instructions, instructions);
    d.write(DEMCR, 1);
    d.0.machine.hold_reset(false);
    assert!(d.halted());
}

/// Vectors and a loop: `adds r0, #1; b .-2`, then `bkpt 0` which a branch can reach.
fn small_program() -> Vec<u8> {
    let mut image = [0x2000_1000u32, 0x0800_0041].map(u32::to_le_bytes).concat();
    image.resize(0x40, 0xff);
    // adds r0, #1 / b back / bkpt 0
    image.extend([0x3001u16, 0xe7fd, 0xbe00].map(u16::to_le_bytes).concat());
    image.resize(0x60, 0xff);
    image
}

#[test]
fn a_blank_chip_locks_up_and_starts_once_it_is_programmed() {
    let mut d = Debugger::new(std::rc::Rc::new(Program::blank()));
    d.0.run_for(0.001);
    assert_eq!(d.read(DHCSR) & S_LOCKUP, S_LOCKUP);
    for key in [0x4567_0123, 0xcdef_89ab] {
        d.write(0x5200_2004, key);
    }
    d.write(0x5200_200c, 0x32);
    for (i, word) in small_program().chunks(4).enumerate() {
        d.write(
            0x0800_0000 + 4 * i as u32,
            u32::from_le_bytes(word.try_into().unwrap()),
        );
        if i % 8 == 7 {
            d.0.run_for(0.001); // as long as a flash word takes
        }
    }
    let m = &mut d.0.machine;
    assert_eq!(m.debug_read(0x0800_0000, 0x60).unwrap(), small_program());
    d.write(0xe000_ed0c, 0x05fa_0004);
    d.0.run_for(0.001);
    assert_eq!(d.read(DHCSR) & (S_LOCKUP | S_HALT), 0);
    d.write(DHCSR, 0xa05f_0003);
    assert!(d.register(0) > 1000, "it counts");

    // BKPT halts with a debugger, and is a fault that locks this program up without one.
    d.set_register(15, 0x0800_0044);
    d.write(DHCSR, 0xa05f_0001);
    d.0.run_for(0.001);
    assert!(d.halted());
    assert_eq!((d.register(15), d.read(DFSR) & 2), (0x0800_0044, 2));
    d.write(DHCSR, 0xa05f_0000);
    d.0.run_for(0.001);
    assert_eq!(d.read(DHCSR) & (S_LOCKUP | S_HALT), S_LOCKUP);
    assert_eq!(d.read(0xe000_ed2c) >> 31, 1, "HFSR.DEBUGEVT");
}

#[test]
fn conditional_instructions_stay_conditional_under_a_debugger() {
    const AT: u32 = 0x2400_0000;
    // movs r0, #1; cmp r0, #0; itete eq; moveq r1, #1; movne r2, #2; moveq r3, #3; movne r4, #4; nop; bkpt 0
    let code = [
        0x2001u16, 0x2800, 0xbf0b, 0x2101, 0x2202, 0x2303, 0x2404, 0xbf00, 0xbe00,
    ];
    let code = code.map(u16::to_le_bytes).concat();
    let fresh = || {
        let mut d = Debugger::attached();
        d.write(DHCSR, 0xa05f_0003);
        d.0.machine.debug_write(AT, &code, Size::Half).unwrap();
        (1..=4).for_each(|n| d.set_register(n, 0));
        d.set_register(15, AT);
        d
    };
    let results = |d: &mut Debugger| [1, 2, 3, 4].map(|n| d.register(n));

    let mut d = fresh();
    while d.register(15) < AT + 14 {
        d.step();
    }
    assert_eq!(results(&mut d), [0, 2, 0, 4], "stepped");

    let mut d = fresh();
    d.write(DHCSR, 0xa05f_0009); // interrupts masked
    d.write(DHCSR, 0xa05f_000b);
    d.set_register(15, AT);
    d.breakpoint(AT + 8);
    d.write(DHCSR, 0xa05f_0009);
    d.0.run_for(0.001);
    assert_eq!(d.register(15), AT + 14, "behind the block");
    assert_eq!(d.read(DFSR) & 2, 2, "for the breakpoint inside");
    assert_eq!(results(&mut d), [0, 2, 0, 4], "run");
}
