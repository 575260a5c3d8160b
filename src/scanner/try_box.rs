//! A fallible box: its value is made when it is first needed, and an error is returned if there is no memory. It must never end
//! the process, which `Box::new` does.

use super::error::Error;

/// A box of an array of one value, because memory for a vector can be asked for without the risk of an abort, and for a box it
/// cannot.
pub struct TryBox<T>(Option<Box<[T; 1]>>);

impl<T> TryBox<T> {
    pub const NONE: TryBox<T> = TryBox(None);

    pub fn new(value: T) -> Result<TryBox<T>, Error> {
        let mut list = Vec::new();
        list.try_reserve_exact(1)?;
        list.push(value);
        // The vector has room for exactly one, so this does not allocate.
        Ok(TryBox(list.try_into().ok()))
    }

    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref().map(|[value]| value)
    }

    #[inline]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut().map(|[value]| value)
    }
}

impl<T: Default> TryBox<T> {
    pub fn made(&mut self) -> Result<&mut T, Error> {
        if self.0.is_none() {
            *self = TryBox::new(T::default())?;
        }
        self.get_mut().ok_or(Error::OutOfMemory)
    }
}
