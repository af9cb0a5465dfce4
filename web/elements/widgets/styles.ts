import { css } from 'lit';

/** Pages can set the custom properties `--ibid-*` and style the parts that the elements name. */
export const styles = css`
  :host {
    --paper: var(--ibid-paper, light-dark(#fcfbf8, #171816));
    --paper-2: var(--ibid-paper-2, light-dark(#f1eee6, #2a2c28));
    --ink: var(--ibid-ink, light-dark(#22201b, #e7e5dc));
    --ink-2: var(--ibid-ink-2, light-dark(#5a564c, #aeac9f));
    --line: var(--ibid-line, light-dark(#ddd9cd, #363932));
    --accent: var(--ibid-accent, light-dark(#0d6157, #7fcdbd));
    --on-accent: var(--ibid-on-accent, light-dark(#ffffff, #10201d));
    --bad: var(--ibid-bad, light-dark(#a3261f, #f2a097));
    display: block; container-type: inline-size; box-sizing: border-box; padding: 1.1rem 1.25rem;
    background: var(--paper); color: var(--ink); border: 1px solid var(--line); border-radius: var(--ibid-radius, 12px);
    font: 1rem/1.5 var(--ibid-font, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif); overflow-wrap: anywhere; text-align: start;
  }
  :host([hidden]) { display: none; }
  :host([theme='light']) { color-scheme: light; }
  :host([theme='dark']) { color-scheme: dark; }
  :host([theme='auto']) { color-scheme: light dark; }
  * { box-sizing: border-box; }
  p { margin: 0; }
  h2, h3 { margin: 0; font: inherit; font-weight: 650; font-size: 1.05rem; }
  h3 { margin-top: 1.25rem; font-size: 1rem; }
  ul { list-style: none; margin: 0.75rem 0 0; padding: 0; }
  li { padding: 0.6rem 0; border-top: 1px solid var(--line); }
  .row { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 0.3rem 1rem; }
  .acts { display: flex; flex-wrap: wrap; gap: 0.5rem; }
  .fields { display: flex; flex-wrap: wrap; align-items: end; gap: 0.6rem; margin-top: 0.6rem; }
  .fields label { flex: 1 1 10rem; min-width: 0; }
  .fields + .small, .fields + ul, ul + button { margin-top: 0.75rem; }
  .fields label.file { flex: none; position: relative; align-content: center; min-height: 2.25rem; padding: 0.2rem 0.9rem; color: var(--ink); font-size: inherit; border: 1px solid var(--ink-2); border-radius: 8px; }
  .file:hover { background: var(--paper-2); }
  .file input { position: absolute; inset: 0; min-height: 0; padding: 0; border: 0; opacity: 0; cursor: pointer; }
  .file:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
  label { display: grid; gap: 0.15rem; font-size: 0.875rem; color: var(--ink-2); }
  label.check { display: flex; align-items: center; gap: 0.5rem; min-height: 2rem; }
  .check input { width: 1.5rem; min-height: 0; height: 1.5rem; accent-color: var(--accent); }
  input, select, button { font: inherit; min-height: 2.25rem; border-radius: 8px; }
  input, select { width: 100%; padding: 0.2rem 0.6rem; color: var(--ink); background: var(--paper); border: 1px solid var(--ink-2); }
  .role { width: auto; max-width: 100%; }
  .small { color: var(--ink-2); font-size: 0.875rem; }
  .tag { font-size: 0.8rem; padding: 0.05rem 0.5rem; border: 1px solid var(--line); border-radius: 99px; color: var(--ink-2); }
  code { font: 0.875em ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', Consolas, monospace; }
  a { color: var(--accent); }
  button { padding: 0.2rem 0.9rem; color: var(--ink); background: transparent; border: 1px solid var(--ink-2); cursor: pointer; }
  button:hover { background: var(--paper-2); }
  button.main { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
  button.bad { color: var(--bad); border-color: var(--bad); }
  button[aria-disabled='true'] { opacity: 0.7; cursor: default; }
  summary { cursor: pointer; padding: 0.15rem 0; border-radius: 4px; color: var(--ink-2); font-size: 0.875rem; min-height: 24px; }
  details.section { margin-top: 0.75rem; border-top: 1px solid var(--line); padding-top: 0.5rem; }
  details.section > summary { color: var(--ink); font-size: 1rem; font-weight: 650; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .failed { color: var(--bad); }
  .notice { min-height: 0; }
  .notice:not(:empty) { margin: 0.5rem 0; }
  .secret { margin-top: 0.6rem; padding: 0.8rem; border: 1px solid var(--accent); border-radius: 8px; }
  .secret code { user-select: all; }
  meter { display: block; appearance: none; width: 100%; height: 0.5rem; margin-top: 0.5rem; border: 0; border-radius: 99px; overflow: hidden; background: var(--paper-2); }
  meter::-webkit-meter-bar { height: 100%; border: 0; background: var(--paper-2); }
  meter::-webkit-meter-optimum-value { background: var(--accent); }
  meter::-moz-meter-bar { background: var(--accent); }
  table { width: 100%; margin-top: 0.5rem; border-collapse: collapse; font-size: 0.9rem; }
  td, th { padding: 0.2rem 0; text-align: start; font-weight: inherit; }
  td:last-child, th:last-child { text-align: end; }
  .who { display: flex; align-items: center; gap: 0.9rem; }
  .face { flex: none; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; border-radius: 50%; background: var(--paper-2); color: var(--accent); font-weight: 650; object-fit: cover; }
  dialog { max-width: min(28rem, 92vw); color: var(--ink); background: var(--paper); border: 1px solid var(--ink-2); border-radius: 12px; padding: 1.1rem 1.25rem; }
  dialog::backdrop { background: rgb(0 0 0 / 0.45); }
  dialog .row { justify-content: end; margin-top: 1rem; }
`;
