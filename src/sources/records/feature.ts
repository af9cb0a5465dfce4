import type { Feature } from '../../platform/feature.ts';
import { deleteSource } from './delete-source.ts';
import { getCoverage } from './get-coverage.ts';
import { getSource } from './get-source.ts';
import { getSourceContent } from './get-source-content.ts';
import { getSourceText } from './get-source-text.ts';
import { listCitations } from './list-citations.ts';
import { listLosses } from './list-losses.ts';
import { listSources } from './list-sources.ts';
import { searchSources } from './search-sources.ts';
import { sourceTables } from './tables.ts';

export const sources: Feature = {
  endpoints: [
    listSources,
    searchSources,
    listLosses,
    getSource,
    getSourceText,
    getSourceContent,
    getCoverage,
    deleteSource,
    listCitations,
  ],
  tables: sourceTables,
};
