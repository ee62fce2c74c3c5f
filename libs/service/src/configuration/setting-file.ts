import { readFileSync } from 'node:fs';

/** Longer files are cut off. A setting is a secret or a name. */
const MAX_FILE_BYTES = 16 * 1024;

/** The value of a setting `…_FILE`, without white space around it. Undefined if the file cannot be read. */
export function readSettingFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').slice(0, MAX_FILE_BYTES).trim();
  } catch {
    return undefined;
  }
}
