//! MATLAB files (level 5: `save` without options, `-v6`, `-v7`): every vector is a column, every matrix several.
//!
//! Read by the crate `matfile`: numbers only, which is what a record is made of. Texts, structures and variables of another
//! length than the longest are left out and said. `-v7.3` is HDF5, which no crate reads without the C library: refused with
//! the way out.

use std::io::{Cursor, Read};
use std::path::Path;

use libflate::zlib;
use matfile::{Array, MatFile, NumericData};

use super::Table;
use crate::error::{Error, Result};

/// More numbers than any record has [bytes, decompressed].
const LARGEST: u64 = 1 << 28;
/// Text, version and byte order before the first element [bytes].
const HEADER: usize = 128;
/// Type of an element that is compressed.
const COMPRESSED: u32 = 15;

pub fn read(path: &Path) -> Result<Table> {
    let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
    let broken = |why: String| {
        Error::invalid(
            format!("{}: not a readable MATLAB file: {why}", path.display()),
            "save it again with `save FILE -v7`, or as .csv",
        )
    };
    if bytes.starts_with(b"MATLAB 7.3") {
        return Err(broken("version 7.3 is HDF5".into()));
    }
    bounded(&bytes).map_err(broken)?;
    let file = MatFile::parse(Cursor::new(&bytes)).map_err(|e| broken(e.to_string()))?;
    let columns: Vec<(String, Vec<f64>)> = file.arrays().iter().flat_map(columns).collect();
    let rows = columns.iter().map(|(_, x)| x.len()).max().unwrap_or(0);
    if rows < 2 {
        return Err(broken("it holds no vector of numbers".into()));
    }
    let mut table = Table {
        line: (1..=rows).collect(),
        ..Table::default()
    };
    let mut left_out = Vec::new();
    for (name, x) in columns {
        if x.len() == rows {
            table.names.push(name);
            table.columns.push(x);
        } else {
            left_out.push(name);
        }
    }
    if !left_out.is_empty() {
        table.notes.push(format!(
            "variables of another length than {rows} are left out: {}",
            left_out.join(", ")
        ));
    }
    Ok(table)
}

/// Whether every element lies within the file and is of bearable size when decompressed.
fn bounded(bytes: &[u8]) -> std::result::Result<(), String> {
    let word = |at: usize, little: bool| -> Option<u32> {
        let four = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(match little {
            true => u32::from_le_bytes(four),
            false => u32::from_be_bytes(four),
        })
    };
    let little = match bytes.get(HEADER - 2..HEADER) {
        Some(b"IM") => true,
        Some(b"MI") => false,
        _ => return Err("it has no header".into()),
    };
    let (mut at, mut room) = (HEADER, LARGEST);
    while at < bytes.len() {
        let (Some(kind), Some(size)) = (word(at, little), word(at + 4, little)) else {
            return Err("it ends within an element".into());
        };
        let from = at + 8;
        let body = from
            .checked_add(size as usize)
            .and_then(|to| bytes.get(from..to))
            .ok_or("it ends within an element")?;
        let length = match kind {
            COMPRESSED => {
                let decoder = zlib::Decoder::new(body).map_err(|e| e.to_string())?;
                let mut some = decoder.take(room + 1);
                std::io::copy(&mut some, &mut std::io::sink()).map_err(|e| e.to_string())?
            }
            _ => u64::from(size),
        };
        room = room
            .checked_sub(length)
            .ok_or("it holds more than 256 MB")?;
        at = from + size as usize;
    }
    Ok(())
}

/// The columns of a variable: one of a vector, several of a matrix (`x_1`, `x_2` …); none of what is not real.
fn columns(array: &Array) -> Vec<(String, Vec<f64>)> {
    let Some(numbers) = real(array.data()) else {
        return Vec::new();
    };
    let [rows, columns] = array.size()[..] else {
        return Vec::new();
    };
    if rows.checked_mul(columns) != Some(numbers.len()) || numbers.is_empty() {
        return Vec::new();
    }
    let name = array.name();
    if rows == 1 || columns == 1 {
        return vec![(name.into(), numbers)];
    }
    numbers
        .chunks(rows)
        .enumerate()
        .map(|(n, x)| (format!("{name}_{}", n + 1), x.to_vec()))
        .collect()
}

fn real(data: &NumericData) -> Option<Vec<f64>> {
    macro_rules! as_f64 {
        ($($kind:ident),+) => {
            match data {
                $(NumericData::$kind { real, imag: None } => Some(real.iter().map(|x| *x as f64).collect()),)+
                _ => None,
            }
        };
    }
    as_f64!(
        Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Single, Double
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of level 5 with these variables, as `save` writes it.
    pub fn written(variables: &[(&str, usize, &[f64])], compress: bool) -> Vec<u8> {
        let mut file = vec![b' '; 124];
        file[..19].copy_from_slice(b"MATLAB 5.0 MAT-file");
        file.extend([0x00, 0x01, b'I', b'M']);
        let element = |kind: u32, body: &[u8]| {
            let mut bytes = kind.to_le_bytes().to_vec();
            bytes.extend((body.len() as u32).to_le_bytes());
            bytes.extend(body);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            bytes
        };
        for (name, rows, numbers) in variables {
            let columns = numbers.len() / rows;
            let mut body = element(6, &[6, 0, 0, 0, 0, 0, 0, 0]);
            let size = [(*rows as i32).to_le_bytes(), (columns as i32).to_le_bytes()];
            body.extend(element(5, &size.concat()));
            body.extend(element(1, name.as_bytes()));
            let bits: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            body.extend(element(9, &bits));
            let array = element(14, &body);
            if compress {
                let mut encoder = zlib::Encoder::new(Vec::new()).unwrap();
                std::io::copy(&mut Cursor::new(array), &mut encoder).unwrap();
                let packed = encoder.finish().into_result().unwrap();
                file.extend(COMPRESSED.to_le_bytes());
                file.extend((packed.len() as u32).to_le_bytes());
                file.extend(packed);
            } else {
                file.extend(array);
            }
        }
        file
    }

    fn read_bytes(bytes: &[u8]) -> Result<Table> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        read(file.path())
    }

    #[test]
    fn vectors_and_matrices_are_columns() {
        let t: Vec<f64> = (0..50).map(|i| f64::from(i) * 0.1).collect();
        let two: Vec<f64> = t.iter().chain(&t).map(|x| x * x).collect();
        for compress in [false, true] {
            let file = written(
                &[("t", 50, &t), ("q", 50, &two), ("fs", 1, &[10.0])],
                compress,
            );
            let table = read_bytes(&file).unwrap();
            assert_eq!(table.names, ["t", "q_1", "q_2"]);
            assert_eq!(table.columns[0], t);
            assert_eq!(table.columns[2], &two[50..]);
            assert!(table.notes[0].contains("fs"), "{:?}", table.notes);
        }
    }

    #[test]
    fn what_is_not_bearable_is_refused() {
        let zeros = vec![0.0; 1 << 20];
        // One variable of 8 MB in a few kilobytes, again and again.
        let one = written(&[("z", 1 << 20, &zeros)], true);
        let bomb = [&one[..HEADER], &one[HEADER..].repeat(40)].concat();
        assert!(bomb.len() < 2 << 20, "{}", bomb.len());
        let said = read_bytes(&bomb).unwrap_err().to_string();
        assert!(said.contains("more than 256 MB"), "{said}");
        let sound = written(&[("t", 50, &zeros[..50])], false);
        for cut in [4, 127, 130, 200, sound.len() - 9] {
            assert!(read_bytes(&sound[..cut]).is_err(), "{cut}");
        }
        let mut hdf = b"MATLAB 7.3 MAT-file".to_vec();
        hdf.resize(600, 0);
        assert!(read_bytes(&hdf).unwrap_err().to_string().contains("HDF5"));
    }
}
