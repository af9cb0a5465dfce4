/** Names of emoji that are common in titles and texts, most used first. */
const OFTEN = (
  'rocket star fire bulb dart trophy books book memo pencil2 clipboard calendar pushpin paperclip mag wrench hammer ' +
  'gear toolbox computer electric_plug satellite shield lock key bell email speech_balloon busts_in_silhouette wave ' +
  'handshake bar_chart chart_with_upwards_trend moneybag credit_card package truck factory house school hospital ' +
  'airplane earth_africa seedling herb evergreen_tree sunny snowflake ocean bug test_tube microscope art camera ' +
  'musical_note coffee pizza tada gift heart white_check_mark warning question construction recycle hourglass'
).split(' ');

export const OFTEN_USED: readonly string[] = OFTEN;

const placeOf = new Map(OFTEN.map((name, at) => [name, at]));

/** Returns the rank of a name among equally good matches: 0 for the most used, Infinity for a rarely used name. */
export function useOf(name: string): number {
  return placeOf.get(name) ?? Number.POSITIVE_INFINITY;
}

/**
 * Finds names that contain a text. The exact name comes first, then names with it as a word, then names with a word
 * that begins with it, then the others; each group is sorted by use.
 */
export function findEmoji(names: readonly string[], text: string): string[] {
  const rank = (name: string) => {
    if (name === text) return 0;
    const words = name.split('_');
    if (words.includes(text)) return 1;
    return words.some((word) => word.startsWith(text)) || name.startsWith(text) ? 2 : 3;
  };
  const found = names
    .filter((name) => name.includes(text))
    .map((name) => ({ name, rank: rank(name), use: useOf(name) }));
  return found.sort((a, b) => a.rank - b.rank || (a.use < b.use ? -1 : a.use > b.use ? 1 : 0)).map(({ name }) => name);
}
