import { Refused } from './ask.ts';
import type { ChosenFile } from './chosen-files.ts';

export interface Sending {
  /** The upload's id, when all bytes have arrived. Errors: Refused; an AbortError after `cancel`. */
  done: Promise<string>;
  cancel(): void;
}

/** Sends the files as one upload, so that links between them become links between pages. `onProgress`: bytes so far. */
export function sendFiles(wiki: string, files: readonly ChosenFile[], onProgress: (bytes: number) => void): Sending {
  const form = new FormData();
  for (const { name, file } of files) form.append('files', file, name);
  const request = new XMLHttpRequest();
  const done = new Promise<string>((resolve, reject) => {
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onabort = () => reject(new DOMException('cancelled', 'AbortError'));
    request.onerror = () => reject(new Refused(0, {}));
    request.onload = () => {
      const answer = readJson(request.responseText);
      if (request.status === 201) resolve(String(answer.upload_id));
      else reject(new Refused(request.status, answer));
    };
    request.open('POST', `/v1/wikis/${wiki}/uploads`);
    request.setRequestHeader('accept', 'application/json');
    request.send(form);
  });
  return { done, cancel: () => request.abort() };
}

function readJson(text: string): Record<string, string> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
