//! The program under test: an ELF file, checked and taken apart.
//!
//! Gives the bytes to place in flash (by load address), the function name of any code address, the RTT
//! and stack symbols, and refuses files that cannot run on the chip with a message that says why.

use std::path::Path;

use object::elf::{EM_ARM, FileHeader32, PT_LOAD};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind};

/// First address of the flash as seen by the processor, and its size [bytes].
pub const FLASH_BASE: u32 = 0x0800_0000;
pub const FLASH_SIZE: u32 = 0x0020_0000;

#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    #[error("{path}: cannot be read: {source}")]
    Unreadable {
        path: String,
        source: std::io::Error,
    },
    #[error("{path}: not a 32-bit ELF file ({cause}); give the file that `cargo fw` builds")]
    NotElf { path: String, cause: String },
    #[error(
        "{path}: built for machine {machine}, not for Arm (40); build with --target thumbv7em-none-eabihf"
    )]
    WrongMachine { path: String, machine: u16 },
    #[error(
        "{path}: no vector table at 0x08000000 (initial stack {stack:#010x}, reset {reset:#010x}); is memory.x linked?"
    )]
    NoVectors {
        path: String,
        stack: u32,
        reset: u32,
    },
    #[error("{path}: {bytes} bytes at {address:#010x} lie outside the flash (0x08000000, 2 MiB)")]
    OutsideFlash {
        path: String,
        address: u32,
        bytes: usize,
    },
}

/// One function or data symbol.
#[derive(Clone, Debug)]
pub struct Symbol {
    pub address: u32,
    pub size: u32,
    pub name: String,
}

/// A checked program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The whole file, for DWARF and defmt readers.
    pub bytes: Vec<u8>,
    /// (address, data) pairs to place in flash before power-on.
    pub segments: Vec<(u32, Vec<u8>)>,
    /// Functions, by address.
    functions: Vec<Symbol>,
    symbols: Vec<Symbol>,
}

impl Program {
    /// Reads and checks `path`.
    pub fn load(path: &Path) -> Result<Program, ElfError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| ElfError::Unreadable {
            path: name.clone(),
            source,
        })?;
        Program::parse(&name, bytes)
    }

    /// Checks the bytes of an ELF file; `path` is used in messages only.
    pub fn parse(path: &str, bytes: Vec<u8>) -> Result<Program, ElfError> {
        let not_elf = |e: object::Error| ElfError::NotElf {
            path: path.into(),
            cause: e.to_string(),
        };
        let header = FileHeader32::<Endianness>::parse(&*bytes).map_err(not_elf)?;
        let endian = header.endian().map_err(not_elf)?;
        let machine = header.e_machine(endian);
        if machine != EM_ARM {
            return Err(ElfError::WrongMachine {
                path: path.into(),
                machine,
            });
        }
        let mut segments = Vec::new();
        for p in header.program_headers(endian, &*bytes).map_err(not_elf)? {
            let data = p.data(endian, &*bytes).unwrap_or(&[]);
            if p.p_type(endian) != PT_LOAD || data.is_empty() {
                continue;
            }
            let address = p.p_paddr(endian);
            let inside = address >= FLASH_BASE
                && (address - FLASH_BASE) as usize + data.len() <= FLASH_SIZE as usize;
            if !inside {
                return Err(ElfError::OutsideFlash {
                    path: path.into(),
                    address,
                    bytes: data.len(),
                });
            }
            segments.push((address, data.to_vec()));
        }
        check_vectors(path, &segments)?;
        let file = object::File::parse(&*bytes).map_err(not_elf)?;
        let (functions, symbols) = read_symbols(&file);
        Ok(Program {
            segments,
            functions,
            symbols,
            bytes,
        })
    }

    /// No program: the flash is empty.
    pub fn blank() -> Program {
        Program {
            bytes: Vec::new(),
            segments: Vec::new(),
            functions: Vec::new(),
            symbols: Vec::new(),
        }
    }

    /// Demangled name of the function that contains `pc`, if the symbol table knows one.
    pub fn function(&self, pc: u32) -> Option<&str> {
        let pc = pc & !1;
        let i = self.functions.partition_point(|s| s.address <= pc);
        let s = self.functions.get(i.checked_sub(1)?)?;
        (pc < s.address + s.size.max(2)).then_some(&*s.name)
    }

    /// `name+offset` of a code address for people.
    pub fn describe(&self, pc: u32) -> String {
        self.function(pc).unwrap_or("?").to_string()
    }

    /// Address of the symbol with exactly this (unmangled) name.
    pub fn address_of(&self, name: &str) -> Option<u32> {
        Some(self.symbols.iter().find(|s| s.name == name)?.address)
    }

    /// Contents of a section by name.
    pub fn section(&self, name: &str) -> Option<Vec<u8>> {
        let file = object::File::parse(&*self.bytes).ok()?;
        let data = file.section_by_name(name)?.uncompressed_data().ok()?;
        Some(data.into_owned())
    }

    /// Every symbol, unmangled, in address order.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }
}

fn check_vectors(path: &str, segments: &[(u32, Vec<u8>)]) -> Result<(), ElfError> {
    let word = |at: u32| {
        segments.iter().find_map(|(a, d)| {
            let o = at.checked_sub(*a)? as usize;
            Some(u32::from_le_bytes(d.get(o..o + 4)?.try_into().ok()?))
        })
    };
    let stack = word(FLASH_BASE).unwrap_or(0);
    let reset = word(FLASH_BASE + 4).unwrap_or(0);
    let in_ram = (0x2000_0000..=0x2002_0000).contains(&stack)
        || (0x2400_0000..=0x2408_0000).contains(&stack)
        || (0x3000_0000..=0x3004_8000).contains(&stack);
    let in_flash = (FLASH_BASE..FLASH_BASE + FLASH_SIZE).contains(&reset) && reset & 1 == 1;
    if in_ram && in_flash && stack % 4 == 0 {
        Ok(())
    } else {
        Err(ElfError::NoVectors {
            path: path.into(),
            stack,
            reset,
        })
    }
}

fn read_symbols(file: &object::File) -> (Vec<Symbol>, Vec<Symbol>) {
    let mut functions = Vec::new();
    let mut symbols = Vec::new();
    for s in file.symbols() {
        let Ok(raw) = s.name() else { continue };
        if raw.is_empty() || raw.starts_with('$') {
            continue;
        }
        let (address, size) = (s.address() as u32, s.size() as u32);
        if s.kind() == SymbolKind::Text {
            functions.push(Symbol {
                address: address & !1,
                size,
                name: format!("{:#}", rustc_demangle::demangle(raw)),
            });
        }
        symbols.push(Symbol {
            address,
            size,
            name: raw.to_string(),
        });
    }
    functions.sort_by_key(|s| (s.address, s.size));
    symbols.sort_by_key(|s| s.address);
    (functions, symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_refused_with_the_build_command() {
        let e = Program::parse("notes.txt", b"hello".to_vec()).unwrap_err();
        assert!(e.to_string().contains("cargo fw"), "{e}");
    }

    #[test]
    fn an_elf_for_another_machine_is_refused() {
        let mut h = vec![0u8; 52];
        h[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1, 1]);
        h[16..20].copy_from_slice(&[2, 0, 3, 0]); // executable, i386
        h[20] = 1;
        let e = Program::parse("host.elf", h).unwrap_err();
        assert!(
            matches!(e, ElfError::WrongMachine { machine: 3, .. }),
            "{e}"
        );
    }

    #[test]
    fn an_arm_elf_without_vectors_is_refused() {
        let mut h = vec![0u8; 52];
        h[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 1, 1, 1]);
        h[16..20].copy_from_slice(&[2, 0, 40, 0]);
        h[20] = 1;
        let e = Program::parse("empty.elf", h).unwrap_err();
        assert!(matches!(e, ElfError::NoVectors { .. }), "{e}");
    }
}
