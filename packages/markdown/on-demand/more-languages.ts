/** All grammars of highlight.js: a file of its own in a bundle, which few texts need. */
export { all } from 'lowlight';
