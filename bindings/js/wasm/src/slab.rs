//! Objects that JavaScript holds by number, so that the module reveals no address, and an unknown number is an error.

use crate::failure::Failure;

pub struct Slab<T> {
    entries: Vec<Option<Box<T>>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub const fn new() -> Slab<T> {
        Slab { entries: Vec::new(), free: Vec::new() }
    }

    /// Keeps an object and returns its number.
    pub fn insert(&mut self, object: T) -> i32 {
        let object = Some(Box::new(object));
        match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = object;
                number as i32
            }
            None => {
                self.entries.push(object);
                self.entries.len() as i32 - 1
            }
        }
    }

    pub fn get(&mut self, number: u32) -> Result<&mut T, Failure> {
        match self.entries.get_mut(number as usize) {
            Some(Some(object)) => Ok(object),
            _ => Err(missing()),
        }
    }

    pub fn remove(&mut self, number: u32) -> Option<Box<T>> {
        let object = self.entries.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(object)
    }
}

#[cold]
#[inline(never)]
fn missing() -> Failure {
    Failure::value("this object is not there")
}
