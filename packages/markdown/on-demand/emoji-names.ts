/** GitHub's emoji by name, in a separate file of the bundle because few texts need them. */
export { nameToEmoji } from 'gemoji';
