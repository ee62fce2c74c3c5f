/** Watches the folders of source files. The system reports changes at once, so a change is noticed without polling. */
import { type FSWatcher, globSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write a file in several steps. */
const QUIET_MS = 30;
const IGNORED = new Set(['dist', 'node_modules']);

export class SourceWatcher {
  private readonly root: string;
  private readonly onChange: (files: ReadonlySet<string>) => void;
  private readonly watchers = new Map<string, FSWatcher>();
  private packages: readonly string[] = [];
  private changed = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  /** @param onChange gets the paths of the changed files, relative to the root */
  constructor(root: string, onChange: (files: ReadonlySet<string>) => void) {
    this.root = root;
    this.onChange = onChange;
  }

  /** Watches the packages to which these files belong. */
  watchPackagesOf(files: Iterable<string>): void {
    const folders = [...files].map((file) => /^(?:apps|libs)\/[^/]+/.exec(file)?.[0]);
    this.packages = [...new Set(folders)].filter((folder) => folder !== undefined);
    this.watchFolders();
  }

  close(): void {
    clearTimeout(this.timer);
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
  }

  /** Also finds folders that were created since the last call, and forgets removed ones. */
  private watchFolders(): void {
    const exclude = (name: string): boolean => IGNORED.has(name);
    const found = this.packages.flatMap((folder) => [
      folder,
      ...globSync('**/', { cwd: join(this.root, folder), exclude }).map((each) => join(folder, each)),
    ]);
    const folders = new Set(found);
    for (const folder of folders) if (!this.watchers.has(folder)) this.watchers.set(folder, this.watchFolder(folder));
    for (const [folder, watcher] of this.watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.watchers.delete(folder);
    }
  }

  private watchFolder(folder: string): FSWatcher {
    const watcher = watch(join(this.root, folder), (_event, name) => this.note(join(folder, name ?? '')));
    // The folder was removed; its parent reports that.
    watcher.on('error', () => undefined);
    return watcher;
  }

  private note(file: string): void {
    this.changed.add(file);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const files = this.changed;
      this.changed = new Set();
      this.watchFolders();
      this.onChange(files);
    }, QUIET_MS);
  }
}
