//! A value that is made when it is first needed, behind one pointer: most scanners never need it, and stay small.

use super::error::Error;

/// An array of one, for a vector's memory can be asked for without the risk of an abort, and a box's cannot.
pub struct TryBox<T>(Option<Box<[T; 1]>>);

impl<T> TryBox<T> {
    pub const NONE: TryBox<T> = TryBox(None);

    pub fn new(value: T) -> Result<TryBox<T>, Error> {
        let mut list = Vec::new();
        list.try_reserve_exact(1)?;
        list.push(value);
        // It has the room of one, and so is not moved.
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
