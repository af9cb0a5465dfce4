import { css } from 'lit';

export const paletteStyles = css`
  dialog { box-sizing: border-box; width: min(42rem, calc(100vw - 2rem)); max-height: calc(100dvh - min(12vh, 6rem) - 1rem); margin: min(12vh, 6rem) auto auto; padding: 0; border: 1px solid var(--line); border-radius: 14px; background: var(--paper); color: var(--ink); box-shadow: var(--shadow); overflow: hidden; }
  dialog[open] { display: flex; flex-direction: column; }
  dialog::backdrop { background: rgb(20 20 15 / 45%); }
  input { width: 100%; flex: none; box-sizing: border-box; border: 0; border-bottom: 1px solid var(--line); background: none; color: inherit; font: 1.15rem var(--sans); padding: 1rem 1.25rem; }
  input:focus { outline: none; border-bottom-color: var(--accent); box-shadow: 0 1px 0 var(--accent); }
  input::placeholder { color: var(--ink-2); opacity: 1; }
  [role='listbox'] { padding: 0.4rem; min-height: 0; overflow-y: auto; }
  [hidden] { display: none; }
  .group { padding: 0.5rem 0.85rem 0.15rem; color: var(--ink-2); font-size: 0.8rem; font-weight: 600; }
  .option { padding: 0.5rem 0.85rem; border-radius: 8px; cursor: pointer; overflow-wrap: anywhere; }
  .option[aria-selected='true'] { background: var(--accent-soft); }
  .title { font-weight: 600; }
  .where, .snippet { color: var(--ink-2); font-size: 0.875rem; }
  .snippet { display: -webkit-box; -webkit-line-clamp: 2; line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
  mark { background: var(--mark); color: var(--ink); }
  p { margin: 0; padding: 0.8rem 1.25rem; color: var(--ink-2); font-size: 0.9rem; }
  .problem { color: var(--bad); }
  .keys { flex: none; border-top: 1px solid var(--line); font-size: 0.8rem; }
  @media (hover: none) { .keys { display: none; } }
  .for-ears { position: absolute; width: 1px; height: 1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
