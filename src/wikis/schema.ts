import { type Static, Type } from 'typebox';
import { Id, Record, Text } from '../core/records.ts';

export const Wiki = Record({
  wiki_id: Id,
  workspace_id: Id,
  slug: Type.String(),
  title: Type.String(),
  description: Text,
});
export type Wiki = Static<typeof Wiki>;

export const exampleWiki: Wiki = {
  wiki_id: 'wiki_01jd8w3v6xf3e8h2k9m4n5p6q9',
  workspace_id: 'org_01jd8w3v6xf3e8h2k9m4n5p6q7',
  slug: 'main',
  title: 'Acme Wiki',
  description: '',
};
