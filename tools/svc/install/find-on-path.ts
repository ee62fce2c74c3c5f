import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first of these programs on the PATH. Searches all folders for a name before it tries the next name. */
export function findOnPath(
  names: readonly string[],
  path = process.env['PATH'] ?? '',
  isProgram: (file: string) => boolean = isExecutable,
): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
