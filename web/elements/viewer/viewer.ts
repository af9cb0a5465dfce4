export { openPdf } from '../pdf/panel.ts';
export { openSource } from './source.ts';
