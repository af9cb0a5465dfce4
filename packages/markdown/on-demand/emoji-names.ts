/** The emoji of GitHub by their names: a file of its own in a bundle, which few texts need. */
export { nameToEmoji } from 'gemoji';
