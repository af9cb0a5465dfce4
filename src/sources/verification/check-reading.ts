import { extractorVersion } from '@ibid/documents/extractor-versions.ts';
import { type Loss, needsReview } from '@ibid/documents/formats/losses.ts';
import { type Finding, finding } from './findings.ts';
import type { CheckedSource, StoredSource } from './records.ts';
import type { Reading } from './reread-file.ts';

export function fileFindings(file: CheckedSource['file'], reading: Reading | undefined): Finding[] {
  if (file === 'missing') return [finding('file_missing', 'the stored file is missing')];
  if (file === 'altered') return [finding('file_altered', 'the stored file differs from the uploaded file')];
  if (reading && !reading.ok && reading.code !== 'too_many_parts') {
    return [
      finding(
        'file_unreadable',
        `the file was readable when it was uploaded but is not readable now: ${reading.message}`,
      ),
    ];
  }
  return [];
}

export function textOf({ text, extractor_version }: StoredSource, reading: Reading | undefined): CheckedSource['text'] {
  if (!reading?.ok) return 'not_read';
  if (reading.text === text) return 'unchanged';
  return extractor_version === extractorVersion(reading.kind) ? 'altered' : 'read_otherwise';
}

export function textFindings(
  { title, detected_type, language, extractor_version }: StoredSource,
  text: CheckedSource['text'],
  reading: Reading | undefined,
): Finding[] {
  if (!reading?.ok) return [];
  const now = extractorVersion(reading.kind);
  if (text === 'read_otherwise') {
    const message = `version ${extractor_version} of the extractor read the file, but version ${now} reads a different text; upload the file again`;
    return [finding('read_otherwise', message)];
  }
  const findings = text === 'altered' ? [finding('text_altered', 'the text differs from the file')] : [];
  if (extractor_version > now) {
    findings.push(finding('record_altered', `version ${extractor_version} of the extractor does not exist`));
  }
  const isSame =
    extractor_version !== now || !reading.isOnePage || (title === reading.title && language === reading.language);
  if (!isSame || detected_type !== reading.content_type) {
    findings.push(finding('record_altered', 'the title, language or type does not match the file'));
  }
  return findings;
}

/**
 * Compares the stored losses with the losses of this reading. The list tells users which content of the file is missing
 * from the text, so it is verified like the text.
 */
export function lossFindings(source: StoredSource, reading: Reading | undefined): Finding[] {
  const { losses, loss_count, losses_to_review, file_characters, extractor_version } = source;
  const isCounted = loss_count === losses.length && losses_to_review === losses.filter(needsReview).length;
  const isOther = !reading?.ok || extractor_version !== extractorVersion(reading.kind);
  const isSame = isOther || (keyOf(losses) === keyOf(reading.losses) && file_characters === reading.file_characters);
  const message = 'the list of losses does not match the file and its text';
  return isCounted && isSame ? [] : [finding('losses_altered', message)];
}

function keyOf(losses: readonly Loss[]): string {
  return JSON.stringify(
    losses.map(({ kind, first_page, last_page, place, count, characters, excerpt }) => {
      return [kind, first_page, last_page, place, count, characters, excerpt];
    }),
  );
}

/** A source must have the name of a file in its upload that became this source. */
export function nameFindings({ is_of_upload }: StoredSource): Finding[] {
  const message = 'its upload has no file of this name that became this source';
  return is_of_upload ? [] : [finding('record_altered', message)];
}
