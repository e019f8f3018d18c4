//! The plan: which runs there are, frozen when the campaign begins, so that everybody who works on it has the same list.
//!
//! It is made from the campaign file and the inputs alone; two processes that make it at the same time make the same bytes.
//! Input files are hashed here: a file that changes later, or that is there twice, is seen.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stribeck_core::device::config::Config;
use stribeck_core::wire::NUMERICS;

use crate::config;
use crate::error::{Error, Result};
use crate::file;
use crate::identify::data::reading::Reading;

use super::spec::{Spec, Variable};
use super::table;

/// Most chunks of a campaign before they grow, and the most runs of one.
const CHUNKS: u64 = 1000;
const CHUNK_RUNS: u64 = 256;

/// One input file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputFile {
    /// As found, relative to the campaign file, with `/` between folders.
    pub path: String,
    /// The `[[input]]` it belongs to.
    pub group: usize,
    pub sha256: Option<String>,
    /// Why it could not be read.
    pub unreadable: Option<String>,
    /// Number of the first run with the same bytes.
    pub duplicate_of: Option<u64>,
    /// Design variables, in the order of the plan's list; none where this file has no such variable.
    pub variables: Vec<Option<Variable>>,
}

/// What is written in `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frozen {
    pub format: u32,
    pub program: String,
    pub numerics: u16,
    /// SHA-256 of everything the campaign file decides, of the rig, and of the two above.
    pub campaign: String,
    pub runs: u64,
    /// Runs per chunk.
    pub chunk_runs: u64,
    pub variables: Vec<String>,
    pub files: Vec<InputFile>,
}

/// A campaign that can be worked on.
pub struct Plan {
    pub spec: Spec,
    pub frozen: Frozen,
    /// Folder of the campaign file, and of the results.
    pub base: PathBuf,
    pub folder: PathBuf,
    /// The rig of `identify.rig`.
    pub rig: Option<Config>,
    /// How each `[[input]]` is read; the last one is for simulated runs.
    pub readings: Vec<Reading>,
}

/// Read the plan of a campaign file, or make it if there is none.
pub fn open(path: &Path) -> Result<Plan> {
    let spec = Spec::load(path)?;
    let base = path.parent().unwrap_or(Path::new("")).to_path_buf();
    let folder = base.join(&spec.output);
    let rig = spec
        .identify
        .rig
        .as_ref()
        .map(|r| config::load(&base.join(r)));
    let rig = rig.transpose()?;
    let campaign = hash(&spec, rig.as_ref())?;
    let at = folder.join("plan.json");
    let frozen = match std::fs::read(&at) {
        Ok(bytes) => same(&at, &bytes, &campaign, &folder)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            if !empty(&folder)? {
                return Err(Error::invalid(
                    format!("{} exists and is no campaign's folder", folder.display()),
                    "set `output` to a folder of its own",
                ));
            }
            let frozen = make(&spec, &base, campaign)?;
            std::fs::create_dir_all(&folder).map_err(|e| Error::write(&folder, e))?;
            let text = serde_json::to_string_pretty(&frozen).map_err(io::Error::other);
            let text = text.map_err(|e| Error::write(&at, e))? + "\n";
            file::replace(&at, text)?;
            frozen
        }
        Err(e) => return Err(Error::read(&at, e)),
    };
    let groups = spec.input.iter().map(Some).chain([None]);
    let readings = groups.map(|g| spec.reading(g, &base)).collect();
    Ok(Plan {
        readings,
        spec,
        frozen,
        base,
        folder,
        rig,
    })
}

/// The stored plan, if it is of this campaign.
fn same(at: &Path, bytes: &[u8], campaign: &str, folder: &Path) -> Result<Frozen> {
    let frozen: Frozen = serde_json::from_slice(bytes).map_err(|e| {
        Error::invalid(
            format!("{} cannot be read: {e}", at.display()),
            "it is no plan of this version: set `output` to another folder",
        )
    })?;
    if frozen.campaign == campaign {
        return Ok(frozen);
    }
    let why = if frozen.program == env!("CARGO_PKG_VERSION") && frozen.numerics == NUMERICS {
        "its file or its rig was another".to_string()
    } else {
        format!(
            "it was begun by stribeck {} (numerics {})",
            frozen.program, frozen.numerics
        )
    };
    Err(Error::invalid(
        format!("{} holds another campaign: {why}", folder.display()),
        "results are never rewritten: set `output` to another folder",
    ))
}

/// Whether a folder is missing or holds nothing but another process's plan under way.
fn empty(folder: &Path) -> Result<bool> {
    match std::fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(e) => Err(Error::read(folder, e)),
        Ok(entries) => {
            let foreign = |e: io::Result<std::fs::DirEntry>| {
                let name = e.map(|e| e.file_name().to_string_lossy().into_owned());
                name.is_ok_and(|n| !n.ends_with("plan.json"))
            };
            // A plan that appeared meanwhile brings its own files.
            Ok(!entries.into_iter().any(foreign) || folder.join("plan.json").exists())
        }
    }
}

/// Everything that decides the results but the inputs themselves.
fn hash(spec: &Spec, rig: Option<&Config>) -> Result<String> {
    let mut spec = spec.clone();
    spec.output = PathBuf::new();
    let text = serde_json::to_string(&spec).map_err(|e| {
        Error::invalid(
            format!("the campaign cannot be written down: {e}"),
            "check the file",
        )
    })?;
    let rig = rig.map(config::to_toml).transpose()?.unwrap_or_default();
    let program = env!("CARGO_PKG_VERSION");
    Ok(sha256(
        format!("stribeck {program}\nnumerics {NUMERICS}\n{text}\n{rig}").as_bytes(),
    ))
}

fn make(spec: &Spec, base: &Path, campaign: String) -> Result<Frozen> {
    let mut files = Vec::new();
    let mut variables: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for (group, input) in spec.input.iter().enumerate() {
        for path in list(&input.files, base)? {
            // A file that two patterns name is one run, of the first.
            if found.iter().any(|(p, _)| *p == path) {
                continue;
            }
            found.push((path, group));
        }
    }
    let mut named = Vec::new();
    for (path, group) in found {
        let input = &spec.input[group];
        let mut own: Vec<(String, Variable)> = Vec::new();
        own.extend(input.variables.iter().map(|(k, v)| (k.clone(), v.clone())));
        let stem = Path::new(&path).file_stem().unwrap_or_default();
        let mut problem = None;
        if let Some(pattern) = &input.pattern {
            match captures(pattern, &stem.to_string_lossy()) {
                Ok(values) => own.extend(values),
                Err(why) => problem = Some(why),
            }
        }
        for (name, _) in &own {
            if !variables.contains(name) {
                variables.push(name.clone());
            }
        }
        named.push((path, group, own, problem));
    }
    if let Some(s) = &spec.simulation {
        for name in s.vary.keys().map(|k| table::column_name(k)) {
            if !variables.contains(&name) {
                variables.push(name);
            }
        }
    }
    table::check_names(&variables)?;
    let mut first: HashMap<String, u64> = HashMap::new();
    for (run, (path, group, own, problem)) in named.into_iter().enumerate() {
        let hashed = file_sha256(&base.join(&path));
        let (sha256, unreadable) = match (hashed, problem) {
            (Ok(hash), None) => (Some(hash), None),
            (Ok(hash), Some(why)) => (Some(hash), Some(why)),
            (Err(e), _) => (None, Some(format!("cannot read {path}: {e}"))),
        };
        let duplicate_of = sha256.as_ref().and_then(|h| first.get(h).copied());
        if let (Some(hash), None) = (&sha256, duplicate_of) {
            first.insert(hash.clone(), run as u64);
        }
        let value = |name: &String| own.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
        files.push(InputFile {
            variables: variables.iter().map(value).collect(),
            path,
            group,
            sha256,
            unreadable,
            duplicate_of,
        });
    }
    let simulated = spec.simulation.as_ref().map_or(0, |s| s.runs());
    let runs = files.len() as u64 + simulated;
    if runs == 0 {
        return Err(Error::invalid(
            "no file matches the patterns of [[input]]",
            "patterns are relative to the campaign file, e.g. files = [\"runs/*.mcap\"]",
        ));
    }
    Ok(Frozen {
        format: 1,
        program: env!("CARGO_PKG_VERSION").into(),
        numerics: NUMERICS,
        campaign,
        runs,
        chunk_runs: runs.div_ceil(CHUNKS).clamp(1, CHUNK_RUNS),
        variables,
        files,
    })
}

/// Files that match, sorted, relative to the campaign file.
fn list(patterns: &[String], base: &Path) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for pattern in patterns {
        let full = base.join(pattern);
        let bad = |e: &dyn std::fmt::Display| {
            Error::invalid(
                format!("{pattern:?} is no pattern of files: {e}"),
                "write e.g. \"runs/*.mcap\" or \"**/*.csv\"",
            )
        };
        // The folder itself may hold characters that mean something in a pattern.
        let text = match Path::new(pattern).is_absolute() || base.as_os_str().is_empty() {
            true => full.to_string_lossy().into_owned(),
            false => format!(
                "{}/{pattern}",
                glob::Pattern::escape(&base.to_string_lossy())
            ),
        };
        let mut any = false;
        for found in glob::glob(&text).map_err(|e| bad(&e))? {
            any = true;
            let path = match found {
                Ok(path) => path,
                // A folder that may not be looked into: the file list would be silently short.
                Err(e) => {
                    let at = PathBuf::from(e.path());
                    return Err(Error::read(&at, e.into()));
                }
            };
            let inside = path.strip_prefix(base).unwrap_or(&path);
            let text = inside.to_string_lossy().replace('\\', "/");
            out.push(text);
        }
        // A name without a pattern is a file that should be there: its absence is a row, not silence.
        if !any && !pattern.contains(['*', '?', '[']) {
            out.push(pattern.clone());
        }
    }
    out.sort();
    out.dedup();
    Ok(out)
}

/// Variables of a file's name: `{temperature}C-{release}` on `40C-3`.
pub fn captures(pattern: &str, stem: &str) -> std::result::Result<Vec<(String, Variable)>, String> {
    let no = || format!("the name {stem:?} does not match the pattern {pattern:?}");
    let mut out = Vec::new();
    let mut rest = stem;
    let mut parts = pattern.split('{');
    rest = rest
        .strip_prefix(parts.next().unwrap_or(""))
        .ok_or_else(no)?;
    for part in parts {
        let (name, literal) = part.split_once('}').ok_or_else(no)?;
        let at = match literal.is_empty() {
            true => rest.len(),
            false => rest.find(literal).ok_or_else(no)?,
        };
        out.push((name.to_string(), Variable::of(&rest[..at])));
        rest = &rest[at + literal.len()..];
    }
    if rest.is_empty() { Ok(out) } else { Err(no()) }
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// SHA-256 of a file.
pub fn file_sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

impl Plan {
    pub fn chunks(&self) -> u64 {
        self.frozen.runs.div_ceil(self.frozen.chunk_runs)
    }

    /// Runs of a chunk.
    pub fn chunk(&self, index: u64) -> std::ops::Range<u64> {
        let n = self.frozen.chunk_runs;
        index * n..((index + 1) * n).min(self.frozen.runs)
    }

    /// What a reader calls the run: its file, or its simulation.
    pub fn input(&self, run: u64) -> String {
        match (self.frozen.files.get(run as usize), &self.spec.simulation) {
            (Some(file), _) => file.path.clone(),
            (None, Some(s)) => {
                let index = run - self.frozen.files.len() as u64;
                format!("simulation {index}, seed {}", s.point(index).seed)
            }
            (None, None) => String::new(),
        }
    }

    /// Design variables of a run, in the order of the plan's list.
    pub fn variables(&self, run: u64) -> Vec<Option<Variable>> {
        if let Some(file) = self.frozen.files.get(run as usize) {
            return file.variables.clone();
        }
        let mut out = vec![None; self.frozen.variables.len()];
        if let Some(s) = &self.spec.simulation {
            let point = s.point(run - self.frozen.files.len() as u64);
            for (name, value) in s.vary.keys().zip(point.values) {
                let name = table::column_name(name);
                if let Some(at) = self.frozen.variables.iter().position(|v| *v == name) {
                    out[at] = Some(value);
                }
            }
        }
        out
    }
}
