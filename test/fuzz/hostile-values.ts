import { createRequire } from 'node:module';
import fc from 'fast-check';
import { anyText } from '../any-text.ts';

const NAUGHTY = createRequire(import.meta.url)('big-list-of-naughty-strings') as string[];

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udfff\ud800',
  '\u202eevil',
  '\ufeff',
  'e\u0301'.repeat(100),
  '𝒳'.repeat(300),
  "' or 1=1--",
  '$1',
  '%s%n',
  '../../../../etc/passwd',
  '..\\..\\x',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '${7*7}',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'true',
  '-1',
  '1e309',
  '9007199254740993',
  '9'.repeat(400),
  '2020-13-45T99:99:99Z',
  'javascript:alert(1)',
  'http://169.254.169.254/',
  'a@b',
  `${'a'.repeat(64)}@${'b'.repeat(180)}.example`,
  'x\r\nSet-Cookie: a=b',
];

/** Texts that programs often handle wrongly. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.constantFrom(...NAUGHTY) },
  { weight: 2, arbitrary: anyText({ maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('x', ' ', 'é', '😀', '\\', '"'), fc.nat(20_000)).map(([c, n]) => c.repeat(n)),
  },
);

/** JSON values of any type, and of extreme sizes. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      2 ** 31,
      2 ** 53,
      -(2 ** 63),
      1e308,
      [],
      {},
      [[]],
      [null],
    ),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.nat(2_000).map((count) => Array.from({ length: count }, () => ({}))) },
  { weight: 1, arbitrary: fc.nat(60).map((depth) => nested(depth)) },
  {
    weight: 1,
    arbitrary: hostileText.map((text) =>
      JSON.parse(`{"__proto__":{"a":1},"constructor":{},"toString":${JSON.stringify(text)}}`),
    ),
  },
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Generates the value once in `weight + 1` cases, and undefined otherwise. */
export function sometimes<T>(weight: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof<fc.MaybeWeightedArbitrary<T | undefined>[]>(
    { weight, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: value },
  );
}
