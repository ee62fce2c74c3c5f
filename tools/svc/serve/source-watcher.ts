/** Watches the folders of source files. The system reports changes at once, so a change is noticed without polling. */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write a file in several steps. */
const QUIET_MS = 30;

/**
 * @param onChange gets the paths of the changed files, relative to the root
 * @returns a function that stops the watchers
 */
export function watchSources(
  root: string,
  folders: readonly string[],
  onChange: (files: ReadonlySet<string>) => void,
): () => void {
  let changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const note = (file: string): void => {
    changed.add(file);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const files = changed;
      changed = new Set();
      onChange(files);
    }, QUIET_MS);
  };
  const watchers = folders.map((folder): FSWatcher => {
    const watcher = watch(join(root, folder), { recursive: true }, (_event, name) => note(join(folder, name ?? '')));
    // A folder in it was removed in the meantime.
    return watcher.on('error', () => undefined);
  });
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
