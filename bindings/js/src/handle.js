// An object inside the module: freed by `free`, by `using`, or when the object here is collected.

const registry = new FinalizationRegistry(({ core, number, free }) => release(core, number, free));

function release(core, number, free) {
  if (!core.trap) core.enter(core.functions[free], number);
}

export class Handle {
  #core;
  #number;
  #free;

  constructor(core, number, free) {
    this.#core = core;
    this.#number = number;
    this.#free = free;
    registry.register(this, { core, number, free }, this);
  }

  // Frees the object at once. May be called again; everything else is then an error.
  free() {
    if (this.#number < 0) return;
    registry.unregister(this);
    release(this.#core, this.#number, this.#free);
    this.#number = -1;
  }

  // Returns the instance of an object, which must be there.
  static core(handle) {
    const core = handle.#core;
    if (core.trap) core.refuse();
    if (handle.#number < 0) throw new Error("this object was freed");
    return core;
  }

  // Returns whether an object was freed, or its instance has ended.
  static isLost(handle) {
    return handle.#core.trap !== null || handle.#number < 0;
  }

  static number(handle) {
    return handle.#number;
  }
}

if (Symbol.dispose) Handle.prototype[Symbol.dispose] = Handle.prototype.free;
