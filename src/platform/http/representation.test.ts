import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseMediaType } from './representation.ts';

test('Accept is parsed as in RFC 9110, 12.5.1: by weight, the most specific range first', () => {
  const offered = ['text/html', 'text/markdown'];
  const examples: [accept: string | undefined, chosen: string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['*/*', undefined],
    ['application/json', undefined],
    // Sent by browsers, by fetch in a browser's page, and by axios.
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 'text/html'],
    ['application/json, text/plain, */*', undefined],
    // Examples of the RFC, with our media types.
    ['audio/*; q=0.2, audio/basic', undefined],
    ['text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c', 'text/html'],
    ['text/*, text/plain, text/plain;format=flowed, */*', 'text/html'],
    ['text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5', undefined],
    // Weights decide, even the weight of a wildcard; 0 means not acceptable.
    ['text/html;q=0.5, */*;q=0.8', undefined],
    ['text/*;q=0.9, application/json;q=0.5', 'text/html'],
    ['text/html;q=0, text/*', 'text/markdown'],
    ['text/html;q=0.2, text/markdown;q=0.4, application/json;q=0.3', 'text/markdown'],
    ['text/html;q=0', undefined],
    // A range with a parameter that our media type lacks does not match it.
    ['text/html;level=1;q=0.9, text/html;q=0.2, application/json;q=0.5', undefined],
    ['text/html;note="a, b;q=0.1";q=0.1, text/markdown;q=0.5, application/json;q=0.4', 'text/markdown'],
    ['TEXT/HTML ; Q=1', 'text/html'],
    ['text/html;q=nonsense, text/markdown', 'text/markdown'],
    ['text/html, application/json', 'text/html'],
    ['application/json, text/html', undefined],
    [',,text/html', 'text/html'],
    ['nonsense', undefined],
    ['application/xml', undefined],
  ];
  for (const [accept, chosen] of examples) assert.equal(chooseMediaType(accept, offered), chosen, accept);
});
