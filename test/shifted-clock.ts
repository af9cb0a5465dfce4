/** Preloaded into a process, shifts the time of `Date` by TEST_CLOCK_SHIFT_MS. */
const shift = Number(process.env.TEST_CLOCK_SHIFT_MS);
const now = Date.now.bind(Date);
globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now() + shift] : args, self),
  get: (target, name, self) => (name === 'now' ? () => now() + shift : Reflect.get(target, name, self)),
});
