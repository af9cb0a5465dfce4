import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEncoding } from './assets.ts';

test('Accept-Encoding is interpreted as in RFC 9110, 12.5.3', () => {
  const examples: [accept: string, chosen: 'br' | 'gzip' | undefined][] = [
    // The examples of the RFC.
    ['compress, gzip', 'gzip'],
    ['', undefined],
    ['*', 'br'],
    ['compress;q=0.5, gzip;q=1.0', 'gzip'],
    ['gzip;q=1.0, identity; q=0.5, *;q=0', 'gzip'],
    // Browsers.
    ['gzip, deflate, br, zstd', 'br'],
    // A weight of 0 means not acceptable.
    ['gzip, br;q=0', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=0.2, gzip;q=0.9', 'gzip'],
    ['identity, gzip;q=0.5', undefined],
    ['x-br', undefined],
    ['BR', 'br'],
  ];
  for (const [accept, chosen] of examples) assert.equal(chooseEncoding(accept), chosen, accept);
});
