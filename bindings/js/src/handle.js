// An object inside the module: freed by `free`, by `using`, or when its JavaScript object is garbage-collected. An object without
// the state of a stream, such as a dialect, is made again if a trap has ended its instance.

import { AsideError } from "./errors.js";

const registry = new FinalizationRegistry(({ core, number, free }) => release(core, number, free));

function release(core, number, free) {
  if (!core.trap) core.enter(core.functions[free], number);
}

export class Handle {
  #core;
  #number;
  #free;
  #make;

  // `make` makes the object again, and returns its instance and number; without `make`, the object ends with its instance.
  constructor(core, number, free, make = null) {
    this.#free = free;
    this.#make = make;
    this.#keep(core, number);
  }

  #keep(core, number) {
    this.#core = core;
    this.#number = number;
    registry.register(this, { core, number, free: this.#free }, this);
  }

  // Frees the object at once. May be called again; everything else is then an error.
  free() {
    if (this.#number < 0) return;
    registry.unregister(this);
    release(this.#core, this.#number, this.#free);
    this.#number = -1;
  }

  // Returns the instance of an object that is not freed. If the instance has ended, makes the object again, with a new number.
  static core(handle) {
    if (handle.#number < 0) throw new AsideError("this object was freed");
    if (handle.#core.trap) {
      if (!handle.#make) handle.#core.refuse();
      registry.unregister(handle);
      handle.#keep(...handle.#make());
    }
    return handle.#core;
  }

  static isFreed(handle) {
    return handle.#number < 0;
  }

  static number(handle) {
    return handle.#number;
  }
}

if (Symbol.dispose) Handle.prototype[Symbol.dispose] = Handle.prototype.free;
