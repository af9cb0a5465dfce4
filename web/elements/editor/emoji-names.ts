export { nameToEmoji } from 'gemoji';
