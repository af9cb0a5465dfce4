/** Characters that need a command; KaTeX reads any other character directly. */
export const COMMANDS = new Map(
  Object.entries({
    '\\': '\\backslash',
    '{': '\\{',
    '}': '\\}',
    $: '\\$',
    '&': '\\&',
    '#': '\\#',
    '%': '\\%',
    _: '\\_',
    '^': '\\hat{}',
    '~': '\\sim',
    '|': '\\vert',
    '‖': '\\Vert',
    '∥': '\\parallel',
    '⟨': '\\langle',
    '⟩': '\\rangle',
    '〈': '\\langle',
    '〉': '\\rangle',
    '⌈': '\\lceil',
    '⌉': '\\rceil',
    '⌊': '\\lfloor',
    '⌋': '\\rfloor',
    '−': '-',
    '∗': '*',
    '×': '\\times',
    '÷': '\\div',
    '±': '\\pm',
    '∓': '\\mp',
    '·': '\\cdot',
    '⋅': '\\cdot',
    '∘': '\\circ',
    '•': '\\bullet',
    '⊕': '\\oplus',
    '⊗': '\\otimes',
    '≤': '\\le',
    '≥': '\\ge',
    '≠': '\\ne',
    '≈': '\\approx',
    '≡': '\\equiv',
    '≅': '\\cong',
    '≃': '\\simeq',
    '∼': '\\sim',
    '∝': '\\propto',
    '≪': '\\ll',
    '≫': '\\gg',
    '→': '\\to',
    '←': '\\leftarrow',
    '↔': '\\leftrightarrow',
    '⇒': '\\Rightarrow',
    '⇐': '\\Leftarrow',
    '⇔': '\\Leftrightarrow',
    '↦': '\\mapsto',
    '∞': '\\infty',
    '∂': '\\partial',
    '∇': '\\nabla',
    '∀': '\\forall',
    '∃': '\\exists',
    '∅': '\\emptyset',
    '∈': '\\in',
    '∉': '\\notin',
    '∋': '\\ni',
    '⊂': '\\subset',
    '⊃': '\\supset',
    '⊆': '\\subseteq',
    '⊇': '\\supseteq',
    '∪': '\\cup',
    '∩': '\\cap',
    '∖': '\\setminus',
    '∧': '\\wedge',
    '∨': '\\vee',
    '¬': '\\neg',
    '⊢': '\\vdash',
    '⊨': '\\models',
    '⊥': '\\perp',
    '∠': '\\angle',
    '°': '^{\\circ}',
    '′': "'",
    '″': "''",
    '…': '\\dots',
    '⋯': '\\cdots',
    '⋮': '\\vdots',
    '⋱': '\\ddots',
    ℏ: '\\hbar',
    ℓ: '\\ell',
    ℜ: '\\Re',
    ℑ: '\\Im',
    ℵ: '\\aleph',
    '∑': '\\sum',
    '∏': '\\prod',
    '∐': '\\coprod',
    '∫': '\\int',
    '∬': '\\iint',
    '∭': '\\iiint',
    '∮': '\\oint',
    '⋃': '\\bigcup',
    '⋂': '\\bigcap',
    '⋁': '\\bigvee',
    '⋀': '\\bigwedge',
    '⨁': '\\bigoplus',
    '⨂': '\\bigotimes',
    '√': '\\surd',
    ℝ: '\\mathbb{R}',
    ℕ: '\\mathbb{N}',
    ℤ: '\\mathbb{Z}',
    ℚ: '\\mathbb{Q}',
    ℂ: '\\mathbb{C}',
    ℙ: '\\mathbb{P}',
    ℍ: '\\mathbb{H}',
    ℱ: '\\mathcal{F}',
    ℋ: '\\mathcal{H}',
    ℒ: '\\mathcal{L}',
    '\u00a0': '~',
    '\u2003': '\\quad ',
    '\u2009': '\\,',
    '\u200a': '\\,',
  }),
);

const GREEK =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau upsilon phi chi psi omega';
const UPPER_GREEK = 'Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega';
for (const [i, name] of GREEK.split(' ').entries()) {
  if (name !== 'omicron') COMMANDS.set(String.fromCodePoint(0x3b1 + i), name === 'phi' ? '\\varphi' : `\\${name}`);
}
for (const [i, letter] of [...'ΓΔΘΛΞΠΣΥΦΨΩ'].entries()) COMMANDS.set(letter, `\\${UPPER_GREEK.split(' ')[i]}`);
COMMANDS.set('ε', '\\varepsilon');
for (const [letter, name] of Object.entries({ ϕ: 'phi', ϵ: 'epsilon', ϑ: 'vartheta', ϖ: 'varpi', ϱ: 'varrho' })) {
  COMMANDS.set(letter, `\\${name}`);
}

/** Functions that have a command of the same name and are set upright. */
export const FUNCTIONS = new Set(
  (
    'arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf limsup ln log max min ' +
    'Pr sec sin sinh sup tan tanh'
  ).split(' '),
);

/** Operators that take limits below and above. */
export const LIMITED =
  /^\\(?:lim|liminf|limsup|max|min|sup|inf|det|gcd|Pr|sum|prod|coprod|bigcup|bigcap|bigvee|bigwedge|bigoplus|bigotimes)$/;

/** Marks above a base, as separate or combining characters. */
export const ACCENTS = new Map(
  Object.entries({
    '^': 'hat',
    ˆ: 'hat',
    '\u0302': 'hat',
    '~': 'tilde',
    '˜': 'tilde',
    '\u0303': 'tilde',
    '¯': 'bar',
    '‾': 'overline',
    '\u0304': 'bar',
    '\u0305': 'overline',
    '\u00b4': 'acute',
    '\u0301': 'acute',
    '`': 'grave',
    '\u0300': 'grave',
    '˘': 'breve',
    '\u0306': 'breve',
    ˇ: 'check',
    '\u030c': 'check',
    '˙': 'dot',
    '\u0307': 'dot',
    '¨': 'ddot',
    '\u0308': 'ddot',
    '\u20db': 'dddot',
    '→': 'vec',
    '\u20d7': 'vec',
    '←': 'overleftarrow',
    '\u20d6': 'overleftarrow',
    '\u20e1': 'overleftrightarrow',
    '⏞': 'overbrace',
    '⏜': 'overbrace',
  }),
);
/** Wide forms of accents for more than one letter. */
export const WIDE = new Map([
  ['hat', 'widehat'],
  ['tilde', 'widetilde'],
  ['bar', 'overline'],
  ['vec', 'overrightarrow'],
]);
/** Marks below a base. */
export const ACCENTS_BELOW = new Map([
  ['_', 'underline'],
  ['\u0332', 'underline'],
  ['¯', 'underline'],
  ['‾', 'underline'],
  ['⏟', 'underbrace'],
  ['⏝', 'underbrace'],
]);

/** Commands for the alphabets of U+1D400–1D7FF in order; letters come in runs of 52. */
export const ALPHABETS = [
  'mathbf',
  '',
  'boldsymbol',
  'mathcal',
  'mathcal',
  'mathfrak',
  'mathbb',
  'mathfrak',
  'mathsf',
  'mathsf',
  'mathsf',
  'mathsf',
  'mathtt',
];
