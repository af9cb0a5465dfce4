/** All grammars of highlight.js, in a separate file of the bundle because few texts need them. */
export { all } from 'lowlight';
