//! Changing values in a configuration file and nothing else: comments, order and what the file leaves to the default stay.
//!
//! In: the file's text and assignments `path=value`. Out: the new text. What it means is not checked here: the caller reads
//! it back.

use toml_edit::{DocumentMut, Item, Table, Value};

use crate::error::Result;

use super::invalid;

/// `text` with these values set. `complete` is the same configuration with every name, for arrays that the file leaves out.
pub fn with_assignments(text: &str, complete: &str, assignments: &[String]) -> Result<String> {
    let parse = |text: &str| {
        text.parse::<DocumentMut>()
            .map_err(|e| invalid(e.to_string().trim().to_owned()))
    };
    let mut document = parse(text)?;
    let complete = parse(complete)?;
    for assignment in assignments {
        let refuse = || invalid(format!("\"{assignment}\" cannot be set in this file"));
        let (path, value) = assignment.split_once('=').ok_or_else(refuse)?;
        let value: Value = value.trim().parse().map_err(|_| refuse())?;
        let steps: Vec<&str> = path
            .trim()
            .split(['.', '['])
            .map(|s| s.trim_end_matches(']'))
            .collect();
        set(document.as_table_mut(), complete.as_table(), &steps, value).ok_or_else(refuse)?;
    }
    Ok(document.to_string())
}

/// Set the value at these steps of a table; what is not there comes to be.
fn set(table: &mut Table, complete: &Table, steps: &[&str], value: Value) -> Option<()> {
    let (first, rest) = steps.split_first()?;
    let known = complete.get(first);
    let Some((next, _)) = rest.split_first() else {
        match table.get_mut(first).and_then(Item::as_value_mut) {
            Some(old) => {
                // The comment behind a value belongs to its name.
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            None => drop(table.insert(first, Item::Value(value))),
        }
        return Some(());
    };
    if !table.contains_key(first) {
        let fresh = match next.parse::<usize>() {
            // One of several: the others must stand there too.
            Ok(_) => known?.clone(),
            Err(_) => {
                let mut fresh = Table::new();
                fresh.set_implicit(true);
                Item::Table(fresh)
            }
        };
        table.insert(first, fresh);
    }
    match table.get_mut(first)? {
        Item::Table(inner) => {
            let empty = Table::new();
            let known = known.and_then(Item::as_table).unwrap_or(&empty);
            set(inner, known, rest, value)
        }
        Item::ArrayOfTables(list) => {
            let n: usize = next.parse().ok()?;
            let known = known.and_then(Item::as_array_of_tables)?.get(n)?;
            set(list.get_mut(n)?, known, &rest[1..], value)
        }
        Item::Value(Value::Array(list)) if rest.len() == 1 => {
            *list.get_mut(next.parse().ok()?)? = value;
            Some(())
        }
        Item::Value(Value::InlineTable(inner)) if rest.len() == 1 => {
            inner.insert(*next, value);
            Some(())
        }
        _ => None,
    }
}
