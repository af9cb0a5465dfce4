export { conflictMarkLine, mergeTexts } from '../../../src/markdown/merge-texts.ts';
