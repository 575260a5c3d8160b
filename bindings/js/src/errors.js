// Errors. Each has the data that a program may need to react to it.

// A request to libaside that cannot be fulfilled; the message says why.
export class AsideError extends Error {
  name = "AsideError";
}

export class UnknownDialectError extends AsideError {
  name = "UnknownDialectError";
  constructor(message, nearest = []) {
    super(message);
    this.nearest = nearest;
  }
}

export class AmbiguousDialectError extends UnknownDialectError {
  name = "AmbiguousDialectError";
  constructor(message, candidates = []) {
    super(message);
    this.candidates = candidates;
  }
}

export class DialectError extends AsideError {
  name = "DialectError";
  constructor(message, line = null, key = "") {
    super(message);
    this.line = line;
    this.key = key;
  }
}

export class JoinError extends AsideError {
  name = "JoinError";
  constructor(message, part = null, offset = null) {
    super(message);
    this.part = part;
    this.offset = offset;
  }
}

// A defect of the library, or a stack that was too small for it: existing objects can no longer be used.
export class DefectError extends Error {
  name = "DefectError";
}

// Reads the failure that the module has written (wasm/src/failure.rs).
export function failure(reader) {
  const kind = reader.number();
  const message = reader.string();
  const names = reader.list();
  const line = reader.number() || null;
  const place = reader.string();
  const hasOffset = reader.flag();
  const offset = reader.number();
  switch (kind) {
    case 2:
      return new DialectError(message, line, place);
    case 3:
      return new UnknownDialectError(message, names);
    case 4:
      return new AmbiguousDialectError(message, names);
    case 5:
      return new JoinError(message, place || null, hasOffset ? offset : null);
    default:
      return new AsideError(message);
  }
}
