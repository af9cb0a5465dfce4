import { madeBefore } from './made-before.js';

await import(madeBefore('main') ?? '../src/main.ts');
